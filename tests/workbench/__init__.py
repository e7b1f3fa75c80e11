"""The extension in a real workbench: a package, so that what its tests share ends with them."""
