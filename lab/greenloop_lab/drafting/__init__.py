"""Parts of published systems, in the folders of greenloop that they belong to."""
