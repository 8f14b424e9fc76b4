"""Between the commands and the person: options and their values, where a page goes, how an error is told."""
