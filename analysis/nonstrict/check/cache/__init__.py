"""What is kept between runs: answers and facts, by what files hold, so that a clone on another machine finds them."""
