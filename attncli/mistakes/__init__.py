"""What people are known to get wrong: what each mistake makes of the equations of attention."""
