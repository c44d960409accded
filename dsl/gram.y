/* The grammar of TDL.  Its actions build the tree and decide nothing.
 *
 * Only op, opaque, onnx, def, model, grad and import are reserved.  Other words
 * are names wherever they cannot be meant as words: parse.c decides that for
 * those that begin or join expressions (lambda if then else and or not true
 * false inf), by the tokens on both sides; the nonterminal `name' does it for
 * the rest. */
%require "3.8"
%define api.pure full
%define api.prefix {dsl_yy}
%define api.token.prefix {TOK_}
%define api.location.type {range}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param { dsl_parser *p }

%code requires {
#include "dsl/parse.h"
}

%code top {
#include <math.h>
}

%code provides {
/* A token with its value and place, as the scanner makes it. */
struct dsl_token {
	int kind; /* -1 for none */
	DSL_YYSTYPE value;
	range at;
};

/* The next token as the scanner finds it, and as the grammar sees it. */
int dsl_scan(DSL_YYSTYPE *value, range *at, void *scanner);
int dsl_yylex(DSL_YYSTYPE *value, range *at, dsl_parser *p);
}

%code {
#define YYMAXDEPTH 10000

/* An empty right-hand side lies behind what precedes it. */
#define YYLLOC_DEFAULT(cur, rhs, n)                                \
	do {                                                       \
		if (n)                                             \
			(cur) = (range){ YYRHSLOC(rhs, 1).beg,     \
					 YYRHSLOC(rhs, n).end };   \
		else                                               \
			(cur) = (range){ YYRHSLOC(rhs, 0).end,     \
					 YYRHSLOC(rhs, 0).end };   \
	} while (0)

/* A node that was not made has been reported. */
#define NODE(to, from) do { if (!((to) = (from))) YYERROR; } while (0)

#define LIST(type) ARENA_NEW(p->arena, type)
#define PUSH(list, ...) vec_push(p->arena, (list), (__VA_ARGS__))

static void dsl_yyerror(const range *at, dsl_parser *p, const char *what);
}

%union {
	int64_t i;
	double f;
	const char *name;
	ast_word word;
	ast_expr *expr;
	expr_list *exprs;
	call_args *args;
	ast_named named;
	ast_var var;
	var_list *vars;
	ast_tensor tensor;
	tensor_list *tensors;
	ast_type type;
	written_type written;
	ast_attr attr;
	attr_list *attrs;
	name_list *names;
	let_list *lets;
	ast_stmt *stmt;
	stmt_list *stmts;
	block *block;
	opset_range opsets;
	family *family;
	bool flag;
}

%token END 0 "the end of the file"
%token <name> NAME "a name" STRING "a string"
%token <i> INT "a whole number"
%token <f> FLOAT "a number"

%token <name> OP "'op'" GRAD "'grad'" OPAQUE "'opaque'" ONNX "'onnx'"
%token <name> DEF "'def'" MODEL "'model'"
%token IMPORT "'import'"

%token <name> LAMBDA "'lambda'" LET "'let'" IF "'if'" THEN "'then'"
%token <name> ELSE "'else'" AND "'and'" OR "'or'" NOT "'not'" FOR "'for'"
%token <name> RETURN "'return'" UNSUPPORTED "'unsupported'"
%token <name> BROADCAST "'broadcast'" CONST "'const'" IN "'in'"
%token <name> INPUT "'input'" PARAM "'param'" STATE "'state'"
%token <name> NEXT "'next'" OUTPUT "'output'"
%token <name> TRUE "'true'" FALSE "'false'" PI "'pi'" INF "'inf'"

/* h_{i}_x_{j}_w is HEAD "h_", i, MIDDLE "_x_", j, TAIL "_w". */
%token <name> HEAD "a name with {" MIDDLE "'}..{' of the name"
%token <name> TAIL "'}' of the name"

%token ARROW "'->'" DOTS "'..'" ELLIPSIS "'...'"
%token LE "'<='" GE "'>='" EQ "'=='" NE "'!='"
%token LPAREN "'('" RPAREN "')'" LBRACKET "'['" RBRACKET "']'"
%token LBRACE "'{'" RBRACE "'}'" COMMA "','" SEMICOLON "';'" COLON "':'"
%token QUESTION "'?'" BACKSLASH "'\\'" AMPERSAND "'&'"
%token ASSIGN "'='" LT "'<'" GT "'>'" PLUS "'+'" MINUS "'-'" STAR "'*'"
%token SLASH "'/'" PERCENT "'%'"

%type <name> name
%type <word> word
%type <expr> expr atom item pack lambda default family target
%type <family> parts
%type <exprs> items items1 exprs exprs1 dims dims1 lambdas targets
%type <args> args args1 params params1
%type <named> named param
%type <var> var
%type <vars> vars vars1
%type <tensor> tensor input
%type <tensors> tensors tensors1 results inputs inputs1
%type <type> type
%type <written> written
%type <i> length
%type <flag> optional
%type <attr> attr
%type <attrs> attrs attrs1
%type <names> names
%type <lets> lets
%type <stmt> stmt if declaration
%type <stmts> stmts
%type <block> block
%type <opsets> opsets
%type <name> op grad opaque onnx def model

%precedence COLON
%precedence ELSE
%left OR
%left AND
%precedence NOT
%nonassoc LT LE GT GE EQ NE
%left PLUS MINUS
%left STAR SLASH PERCENT
%precedence NEGATIVE

%%

/* ---- definitions -------------------------------------------------------- */

/* After a fault, everything up to the next definition is skipped. */
module:
  %empty
| module definition
| module error
;

definition:
  op word LPAREN tensors attrs RPAREN ARROW results ASSIGN lets lambdas
	{ ast_add_op(p, @$, $op, $word, $tensors, $attrs, $results, $lets,
		     $lambdas); }
| grad word[of] word[by] LPAREN tensors attrs RPAREN ARROW results ASSIGN lets
  lambdas
	{ ast_add_grad(p, @$, $grad, $of, $by, $tensors, $attrs, $results,
		       $lets, $lambdas); }
| opaque word LPAREN tensors attrs RPAREN ARROW results ASSIGN STRING
	{ ast_add_opaque(p, @$, $opaque, $word, $tensors, $attrs, $results,
			 $STRING); }
| onnx STRING[type] opsets LPAREN inputs attrs RPAREN block
	{ ast_add_onnx(p, @$, $onnx, "", (ast_word){ $type, @type }, $opsets,
		       $inputs, $attrs, $block); }
| onnx STRING[domain] STRING[type] opsets LPAREN inputs attrs RPAREN block
	{ ast_add_onnx(p, @$, $onnx, $domain, (ast_word){ $type, @type },
		       $opsets, $inputs, $attrs, $block); }
| def word LPAREN params RPAREN block
	{ ast_add_block(p, @$, $def, $word, $params, $block); }
| import STRING			{ ast_add_import(p, @$, $STRING); }
| model word LPAREN params RPAREN block
	{ ast_add_model(p, @$, $model, $word, $params, $block); }
;

op: OP { yyerrok; dsl_begin(p, @1); $$ = $1; };
grad: GRAD { yyerrok; dsl_begin(p, @1); $$ = $1; };
opaque: OPAQUE { yyerrok; dsl_begin(p, @1); $$ = $1; };
onnx: ONNX { yyerrok; dsl_begin(p, @1); $$ = $1; };
def: DEF { yyerrok; dsl_begin(p, @1); $$ = $1; };
model: MODEL { yyerrok; dsl_begin(p, @1); $$ = $1; };
import: IMPORT { yyerrok; dsl_begin(p, @1); };

word: name { $$ = (ast_word){ $1, @1 }; };

name:
  NAME
| LET
| FOR
| RETURN
| UNSUPPORTED
| BROADCAST
| CONST
| IN
| INPUT
| PARAM
| STATE
| NEXT
| OUTPUT
;

names:
  name
	{ $$ = LIST(name_list); PUSH(&$$->names, $1); PUSH(&$$->at, @1); }
| names COMMA name
	{ PUSH(&$1->names, $3); PUSH(&$1->at, @3); $$ = $1; }
;

/* ---- signatures --------------------------------------------------------- */

tensors:
  %empty			{ $$ = LIST(tensor_list); }
| tensors1
;

tensors1:
  tensor			{ $$ = LIST(tensor_list); PUSH($$, $1); }
| tensors1 COMMA tensor		{ PUSH($1, $3); $$ = $1; }
;

tensor:
  name LBRACKET dims RBRACKET type
	{ $$ = ast_parameter(@name, $name, $dims, $type); }
| BROADCAST name LBRACKET dims RBRACKET type
	{ $$ = ast_parameter(@name, $name, $dims, $type);
	  $$.broadcast = true; }
;

dims:
  %empty			{ $$ = LIST(expr_list); }
| dims1
;

dims1:
  item				{ $$ = LIST(expr_list); PUSH($$, $1); }
| dims1 COMMA item		{ PUSH($1, $3); $$ = $1; }
;

type:
  %empty			{ $$ = ast_type_of(NULL, NOWHERE); }
| COLON name			{ $$ = ast_type_of($name, @name); }
;

results:
  tensor			{ $$ = LIST(tensor_list); PUSH($$, $1); }
| LPAREN tensors1 RPAREN	{ $$ = $2; }
;

attrs:
  %empty			{ $$ = LIST(attr_list); }
| SEMICOLON attrs1		{ $$ = $2; }
;

attrs1:
  attr				{ $$ = LIST(attr_list); PUSH($$, $1); }
| attrs1 COMMA attr		{ PUSH($1, $3); $$ = $1; }
;

attr:
  name COLON written default
	{ $$ = ast_attribute(p, @name, $name, &$written, $default); }
;

/* axis, int[2], int[]? */
written:
  name length optional
	{ $$ = (written_type){ $name, @name, $length != -2, $optional,
			       (int)$length }; }
;

length:
  %empty			{ $$ = -2; }
| LBRACKET RBRACKET		{ $$ = -1; }
| LBRACKET INT RBRACKET		{ $$ = dsl_length(p, @INT, $INT); }
;

optional:
  %empty			{ $$ = false; }
| QUESTION			{ $$ = true; }
;

default:
  %empty			{ $$ = NULL; }
| ASSIGN expr			{ $$ = $2; }
;

/* ---- the bodies of operators -------------------------------------------- */

lets:
  %empty			{ $$ = LIST(let_list); }
| lets LET names ASSIGN expr
	{ range at = { @LET.beg, @expr.end };
	  PUSH($1, ast_binding(at, $names, $expr)); $$ = $1; }
;

/* One for each result; a comma between them is allowed. */
lambdas:
  lambda			{ $$ = LIST(expr_list); PUSH($$, $1); }
| lambdas lambda		{ PUSH($1, $2); $$ = $1; }
| lambdas COMMA lambda		{ PUSH($1, $3); $$ = $1; }
;

lambda:
  LAMBDA vars COLON expr	{ NODE($$, ast_lambda(p, @$, $vars, $expr)); }
;

vars:
  %empty			{ $$ = LIST(var_list); }
| vars1
;

vars1:
  var				{ $$ = LIST(var_list); PUSH($$, $1); }
| vars1 COMMA var		{ PUSH($1, $3); $$ = $1; }
;

var:
  name				{ $$ = (ast_var){ .name = $name, .at = @$ }; }
| name LT expr
	{ $$ = (ast_var){ .name = $name, .extent = $expr, .at = @name }; }
| pack
	{ $$ = (ast_var){ .pack = $pack->pack, .at = @$ }; }
;

/* ---- expressions -------------------------------------------------------- */

expr:
  atom
| lambda
| IF expr[c] THEN expr[x] ELSE expr[y]	{ NODE($$, ast_if(p, @$, $c, $x, $y)); }
| expr OR expr		{ NODE($$, ast_binary(p, @$, OP_OR, $1, $3)); }
| expr AND expr		{ NODE($$, ast_binary(p, @$, OP_AND, $1, $3)); }
| NOT expr		{ NODE($$, ast_unary(p, @$, OP_NOT, $2)); }
| expr LT expr		{ NODE($$, ast_binary(p, @$, OP_LT, $1, $3)); }
| expr LE expr		{ NODE($$, ast_binary(p, @$, OP_LE, $1, $3)); }
| expr GT expr		{ NODE($$, ast_binary(p, @$, OP_GT, $1, $3)); }
| expr GE expr		{ NODE($$, ast_binary(p, @$, OP_GE, $1, $3)); }
| expr EQ expr		{ NODE($$, ast_binary(p, @$, OP_EQ, $1, $3)); }
| expr NE expr		{ NODE($$, ast_binary(p, @$, OP_NE, $1, $3)); }
| expr PLUS expr	{ NODE($$, ast_binary(p, @$, OP_ADD, $1, $3)); }
| expr MINUS expr	{ NODE($$, ast_binary(p, @$, OP_SUB, $1, $3)); }
| expr STAR expr	{ NODE($$, ast_binary(p, @$, OP_MUL, $1, $3)); }
| expr SLASH expr	{ NODE($$, ast_binary(p, @$, OP_DIV, $1, $3)); }
| expr PERCENT expr	{ NODE($$, ast_binary(p, @$, OP_MOD, $1, $3)); }
| MINUS expr %prec NEGATIVE	{ NODE($$, ast_unary(p, @$, OP_NEG, $2)); }
;

atom:
  INT			{ NODE($$, ast_int(p, @$, $1)); }
| FLOAT			{ NODE($$, ast_float(p, @$, $1)); }
| PI			{ NODE($$, ast_float(p, @$, AST_PI)); }
| INF			{ NODE($$, ast_float(p, @$, HUGE_VAL)); }
| TRUE			{ NODE($$, ast_bool(p, @$, true)); }
| FALSE			{ NODE($$, ast_bool(p, @$, false)); }
| STRING		{ NODE($$, ast_text(p, AST_STRING, @$, $1)); }
| name			{ NODE($$, ast_text(p, AST_NAME, @$, $1)); }
| family
| LBRACKET exprs RBRACKET	{ NODE($$, ast_list(p, @$, $exprs)); }
| atom LBRACKET items RBRACKET	{ NODE($$, ast_index(p, @$, $1, $items)); }
| name LPAREN args RPAREN	{ NODE($$, ast_call(p, @$, $name, $args)); }
| LPAREN expr RPAREN		{ $$ = $expr; $$->parens = true; }
| LPAREN expr[read] ELSE expr[value] RPAREN
	{ NODE($$, ast_guard(p, @$, $read, $value)); }
;

exprs:
  %empty			{ $$ = LIST(expr_list); }
| exprs1
;

exprs1:
  expr				{ $$ = LIST(expr_list); PUSH($$, $1); }
| exprs1 COMMA expr		{ PUSH($1, $3); $$ = $1; }
;

/* The items in the brackets of a read, and in those of a signature. */
items:
  %empty			{ $$ = LIST(expr_list); }
| items1
;

items1:
  item				{ $$ = LIST(expr_list); PUSH($$, $1); }
| COLON
	{ ast_expr *all;
	  NODE(all, ast_new(p, AST_SLICE, @1));
	  $$ = LIST(expr_list); PUSH($$, all); }
| items1 COMMA item		{ PUSH($1, $3); $$ = $1; }
| items1 COMMA COLON
	{ ast_expr *all;
	  NODE(all, ast_new(p, AST_SLICE, @3));
	  PUSH($1, all); $$ = $1; }
;

item:
  expr
| pack
;

pack:
  DOTS name
	{ NODE($$, ast_pack_item(p, @$, PACK_ALL, $name, NULL)); }
| DOTS name LBRACKET expr RBRACKET
	{ NODE($$, ast_pack_item(p, @$, PACK_PERM, $name, $expr)); }
| DOTS LPAREN name BACKSLASH expr RPAREN
	{ NODE($$, ast_pack_item(p, @$, PACK_MINUS, $name, $expr)); }
| DOTS LPAREN name AMPERSAND expr RPAREN
	{ NODE($$, ast_pack_item(p, @$, PACK_AND, $name, $expr)); }
| DOTS name LPAREN args RPAREN
	{ NODE($$, ast_pack_call(p, @$, @name, $name, $args)); }
;

args:
  %empty			{ $$ = LIST(call_args); }
| DOTS				{ $$ = LIST(call_args); $$->open = true; }
| args1
| args1 COMMA DOTS		{ $1->open = true; $$ = $1; }
;

args1:
  item				{ $$ = LIST(call_args); PUSH(&$$->exprs, $1); }
| named				{ $$ = LIST(call_args); PUSH(&$$->named, $1); }
| args1 COMMA item		{ NODE($$, ast_add_argument(p, @3, $1, $3)); }
| args1 COMMA named		{ PUSH(&$1->named, $3); $$ = $1; }
;

named:
  name ASSIGN expr		{ $$ = (ast_named){ $name, $expr, @name }; }
;

/* ---- models, defs and onnx entries -------------------------------------- */

params:
  %empty			{ $$ = LIST(call_args); }
| params1
;

params1:
  param				{ $$ = LIST(call_args); PUSH(&$$->named, $1); }
| params1 COMMA param		{ PUSH(&$1->named, $3); $$ = $1; }
;

param:
  name default			{ $$ = (ast_named){ $name, $default, @name }; }
;

opsets:
  INT				{ $$.since = $$.until = dsl_opset(p, @1, $1); }
| INT DOTS
	{ $$.since = dsl_opset(p, @1, $1); $$.until = INT32_MAX; }
| INT[from] DOTS INT[to]
	{ $$.since = dsl_opset(p, @from, $from);
	  $$.until = dsl_opset(p, @to, $to); }
;

inputs:
  %empty			{ $$ = LIST(tensor_list); }
| inputs1
;

inputs1:
  input				{ $$ = LIST(tensor_list); PUSH($$, $1); }
| inputs1 COMMA input		{ PUSH($1, $3); $$ = $1; }
;

input:
  name
	{ $$ = (ast_tensor){ .name = $name, .at = @name }; }
| name QUESTION
	{ $$ = (ast_tensor){ .name = $name, .optional = true, .at = @name }; }
| name ELLIPSIS
	{ $$ = (ast_tensor){ .name = $name, .variadic = true, .at = @name }; }
| CONST name COLON written	{ $$ = ast_constant(@name, $name, &$written); }
;

block:
  LBRACE stmts RBRACE
	{ $$ = LIST(block); *$$ = (block){ *$stmts, @$ }; }
;

stmts:
  %empty			{ $$ = LIST(stmt_list); }
| stmts stmt			{ PUSH($1, $2); $$ = $1; }
;

stmt:
  targets ASSIGN expr
	{ NODE($$, ast_assign(p, STMT_ASSIGN, @$, $targets, $expr)); }
| INPUT declaration
	{ $$ = $declaration; $$->kind = STMT_INPUT; $$->at = @$; }
| PARAM declaration
	{ $$ = $declaration; $$->kind = STMT_PARAM; $$->at = @$; }
| STATE declaration
	{ $$ = $declaration; $$->kind = STMT_STATE; $$->at = @$; }
| NEXT target ASSIGN expr
	{ NODE($$, ast_next(p, @$, $target, $expr)); }
| OUTPUT targets
	{ NODE($$, ast_assign(p, STMT_OUTPUT, @$, $targets, NULL)); }
| if
| FOR word LT expr block
	{ NODE($$, ast_loop(p, @$, $word, false, $expr, $block)); }
| FOR word IN expr block
	{ NODE($$, ast_loop(p, @$, $word, true, $expr, $block)); }
| RETURN exprs1			{ NODE($$, ast_return(p, @$, $exprs1)); }
| UNSUPPORTED STRING
	{ NODE($$, ast_unsupported(p, @$, $1, (ast_word){ $2, @2 })); }
;

declaration:
  target LBRACKET exprs RBRACKET type default
	{ NODE($$, ast_declaration(p, @$, $target, $exprs, $type, $default)); }
;

targets:
  target			{ $$ = LIST(expr_list); PUSH($$, $1); }
| targets COMMA target		{ PUSH($1, $3); $$ = $1; }
;

target:
  name			{ NODE($$, ast_text(p, AST_NAME, @$, $1)); }
| family
;

family:
  parts TAIL		{ NODE($$, ast_family(p, @$, $parts, $TAIL)); }
;

parts:
  HEAD expr
	{ $$ = LIST(family); PUSH(&$$->texts, $HEAD); PUSH(&$$->exprs, $expr); }
| parts MIDDLE expr
	{ PUSH(&$1->texts, $MIDDLE); PUSH(&$1->exprs, $expr); $$ = $1; }
;

if:
  IF expr block
	{ NODE($$, ast_branch(p, @$, $expr, $block, NULL)); }
| IF expr block[then] ELSE block[else]
	{ NODE($$, ast_branch(p, @$, $expr, $then, $else)); }
| IF expr block ELSE if[other]
	{ NODE($$, ast_else_if(p, @$, $expr, $block, $other)); }
;

%%

/* Called when the stack is full; other faults have their own ways. */
static void dsl_yyerror(const range *at, dsl_parser *p, const char *what)
{
	(void)what;
	dsl_fault(p, DIAG_TOO_DEEP, *at, "the nesting here is too deep");
}

enum { MAX_EXPECTED = 4 };

/* The tokens that the grammar accepts here, for a message; NULL if there are
 * too many to be of help.  A name among them stands for the words that can be
 * names, too. */
static const char *expected(const yypcontext_t *cx, dsl_parser *p)
{
	yysymbol_kind_t kinds[YYNTOKENS];
	int n = yypcontext_expected_tokens(cx, kinds, YYNTOKENS);
	bool name = false;
	for (int i = 0; i < n; i++)
		name |= kinds[i] == YYSYMBOL_NAME;
	const char *text = "";
	int shown = 0;
	for (int i = 0; i < n; i++) {
		if (name && kinds[i] >= YYSYMBOL_LAMBDA &&
		    kinds[i] <= YYSYMBOL_INF)
			continue;
		if (shown++ == MAX_EXPECTED)
			return NULL;
		text = arena_printf(p->arena, "%s%s%s", text,
				    shown > 1 ? " or " : "",
				    yysymbol_name(kinds[i]));
	}
	return shown ? text : NULL;
}

static int yyreport_syntax_error(const yypcontext_t *cx, dsl_parser *p)
{
	dsl_unexpected(p, *yypcontext_location(cx),
		       yysymbol_name(yypcontext_token(cx)), expected(cx, p));
	return 0;
}
