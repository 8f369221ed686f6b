"""The attempts behind one view, and the programs that they hold: live, in a file, or dropped."""
