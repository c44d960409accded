# Conditions and sums whose gradients are proven or simplified as whole numbers
# are: floats have values between these, short integers wrap around, and a
# double has not all that i64 has.
tdlc verify --gradients whole_numbers.tdl
