"""The attempts of one view, and their programs: live, in a file, or dropped."""
