// A coordinator with a queue: the holder lets in one after another. Java has no JSON of its own; the few fields
// that matter here are found by a pattern.
//
// Build it with: javac -d classes examples/Centralised.java
// Run it with:   orchestrator run external -n 5 -- java -cp classes Centralised
import java.util.*;
import java.util.regex.*;

public class Centralised {
    static int me, coordinator;
    static boolean taken = false;
    static final Deque<Integer> queue = new ArrayDeque<>();
    static final List<String> effects = new ArrayList<>();

    public static void main(String[] arguments) {
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            String line = lines.nextLine();
            effects.clear();
            String declares = "";
            if (line.startsWith("{\"init\"")) {
                me = number(line, "me");
                coordinator = number(line, "holder");
                declares = ",\"declares\":{\"kinds\":[\"REQUEST\",\"GRANT\",\"RELEASE\"],"
                        + "\"messages_per_entry\":{\"at_most\":\"3\"}}";
            } else if (line.startsWith("{\"request\"")) {
                say(coordinator, "REQUEST");
            } else if (line.startsWith("{\"release\"")) {
                say(coordinator, "RELEASE");
            } else if (line.startsWith("{\"receive\"")) {
                receive(number(line, "from"), kind(line));
            }
            System.out.println("{\"do\":[" + String.join(",", effects) + "]" + declares + "}");
        }
    }

    static void receive(int from, String kind) {
        switch (kind) {
            case "GRANT" -> effects.add("{\"enter\":{}}");
            case "REQUEST" -> queue.add(from);
            default -> taken = false;
        }
        if (!taken && !queue.isEmpty()) {
            taken = true;
            say(queue.remove(), "GRANT");
        }
    }

    /** A message to oneself arrives before anything else happens, and is not counted. */
    static void say(int to, String kind) {
        effects.add("{\"send\":{\"to\":" + to + ",\"message\":{\"kind\":\"" + kind + "\"}}}");
    }

    static int number(String line, String field) {
        return Integer.parseInt(found(line, "\"" + field + "\":(\\d+)"));
    }

    static String kind(String line) {
        return found(line, "\"kind\":\"(\\w+)\"");
    }

    static String found(String line, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(line);
        if (!matcher.find()) throw new IllegalArgumentException(pattern + " is not in " + line);
        return matcher.group(1);
    }
}
