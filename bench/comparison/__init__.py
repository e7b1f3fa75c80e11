"""nonstrict side by side with other tools on the same programs: runs them, keeps what they said, writes the page."""
