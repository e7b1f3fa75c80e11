"""What is known while a function is interpreted, and what is asked through it of the rooms above."""
