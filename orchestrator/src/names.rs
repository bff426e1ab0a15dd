//! Names that become names of files and directories.

/// The name, if a directory of results can have it: it leads nowhere else.
pub(crate) fn directory_name(name: &str) -> Result<&str, String> {
    let plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
    if name.starts_with('.') || name == "latest" || name.is_empty() || !name.chars().all(plain) {
        return Err(format!(
            "'{name}' cannot name a directory of results; use letters, digits, '.', '-' and '_', \
             not 'latest', no '.' in front"
        ));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere() {
        for name in [
            "../up", "/etc", "a/b", "..", ".hidden", "latest", "", "a\u{1b}b", "a b",
        ] {
            assert!(directory_name(name).is_err(), "{name:?}");
        }
        for name in ["raymond", "BAN-29", "v1.2_x", "größe"] {
            assert_eq!(directory_name(name), Ok(name));
        }
    }
}
