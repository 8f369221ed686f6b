"""An attempt without a widget: text for a terminal, a static picture, DOT, and escaping."""
