"""The display of a session: its widget, a pane, a report, and the replies to the page."""
