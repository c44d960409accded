" Vim syntax file
" Language: TDL, the tensor description language

if exists('b:current_syntax')
  finish
endif

syntax keyword tdlDefinition op opaque onnx def model grad import
syntax keyword tdlKeyword lambda let input output param state next const
syntax keyword tdlKeyword broadcast
syntax keyword tdlKeyword return unsupported
syntax keyword tdlConditional if then else
syntax keyword tdlRepeat for in
syntax keyword tdlOperator and or not
syntax keyword tdlReducer Sum Prod Max Min And Or ArgMax ArgMin Mean
syntax keyword tdlType f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool
syntax keyword tdlType f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0
syntax keyword tdlType f6e2m3 f6e3m2 f4e2m1 i4 u4 i2 u2
syntax keyword tdlType int float string type axis
syntax keyword tdlConstant true false pi inf
syntax match tdlPack /\.\.[A-Za-z_]*/
syntax match tdlNumber /\<\d\+\(\.\d\+\)\?\([eE][-+]\?\d\+\)\?\>/
syntax region tdlString start=/"/ skip=/\\./ end=/"/ oneline
syntax match tdlComment /\/\/.*$/ contains=tdlTodo,@Spell
syntax match tdlDoc /\/\/\/.*$/ contains=tdlTodo,@Spell
syntax keyword tdlTodo TODO FIXME contained

highlight default link tdlDefinition Keyword
highlight default link tdlKeyword Statement
highlight default link tdlConditional Conditional
highlight default link tdlRepeat Repeat
highlight default link tdlOperator Operator
highlight default link tdlReducer Function
highlight default link tdlType Type
highlight default link tdlConstant Constant
highlight default link tdlPack Identifier
highlight default link tdlNumber Number
highlight default link tdlString String
highlight default link tdlComment Comment
highlight default link tdlDoc SpecialComment
highlight default link tdlTodo Todo

let b:current_syntax = 'tdl'
