/* A ring with one token: who wants it asks the next member, the question goes round until it meets the token, and the
 * token comes back the same way.
 *
 * Build it with: cc -O2 -o token_ring examples/token_ring.c
 * Run it with:   orchestrator run external -n 5 -- ./token_ring
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, nodes, token, inside, waiting;
static int asked;  /* the next member knows that we want the token */
static int wanted; /* the member before us wants it */
static char effects[4096];

static void effect(const char *text) {
    if (effects[0]) strncat(effects, ",", sizeof effects - strlen(effects) - 1);
    strncat(effects, text, sizeof effects - strlen(effects) - 1);
}

static void tell(int step, const char *kind) {
    char text[128];
    int to = (me + step + nodes) % nodes;
    snprintf(text, sizeof text, "{\"send\":{\"to\":%d,\"message\":{\"kind\":\"%s\"}}}", to, kind);
    effect(text);
}

static void enter(void) {
    inside = 1;
    waiting = 0;
    effect("{\"enter\":{}}");
}

/* Asks once, however many behind us want the token. */
static void ask(void) {
    if (!asked && !token) {
        asked = 1;
        tell(1, "WANTED");
    }
}

static int number(const char *line, const char *field) {
    const char *place = strstr(line, field);
    return place ? atoi(place + strlen(field)) : -1;
}

int main(void) {
    static char line[4 << 20];
    while (fgets(line, sizeof line, stdin)) {
        const char *declares = "";
        effects[0] = 0;
        if (!strncmp(line, "{\"init\"", 7)) {
            me = number(line, "\"me\":");
            nodes = number(line, "\"nodes\":");
            token = me == number(line, "\"holder\":");
            declares = ",\"declares\":{\"kinds\":[\"WANTED\",\"TOKEN\"],\"token\":\"TOKEN\"}";
        } else if (!strncmp(line, "{\"request\"", 10)) {
            waiting = 1;
            if (token) enter(); else ask();
        } else if (!strncmp(line, "{\"release\"", 10)) {
            inside = 0;
        } else if (strstr(line, "\"WANTED\"")) {
            wanted = 1;
            ask();
        } else if (strstr(line, "\"TOKEN\"")) {
            token = 1;
            asked = 0;
            if (waiting) enter();
        }
        if (token && !inside && wanted) {
            wanted = token = 0;
            tell(-1, "TOKEN");
        }
        printf("{\"do\":[%s]%s}\n", effects, declares);
        fflush(stdout);
    }
}
