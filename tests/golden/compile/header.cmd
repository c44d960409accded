tdlc compile parts/uses.tdl parts/opaque.tdl --emit=header -o "$tmp/my-ops.h"
sed '/0x/d' "$tmp/my-ops.h"
