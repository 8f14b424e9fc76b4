"""The short page: what comes out first, then the steps, and what is given where it is used."""
