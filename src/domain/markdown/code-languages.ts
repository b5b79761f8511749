// What people write after ``` -> the language's own name, as clients expect it in `data-code-language` (they look up
// playgrounds by it). The names are those of the Pygments lexers. Unknown words are passed on as typed.

const NAMES = `
Ada ada ada95 | Bash bash sh ksh zsh shell | Batchfile bat batch dosbatch winbatch | BibTeX bib bibtex | C c |
C# csharp c# cs | C++ cpp c++ | CMake cmake | COBOL cobol | CSS css | Clojure clojure clj |
ClojureScript clojurescript cljs | CoffeeScript coffeescript coffee coffee-script | Common_Lisp common-lisp cl lisp |
Coq coq | Crystal cr crystal | Cython cython pyx | D d | Dart dart | Diff diff udiff | Django/Jinja django jinja |
Docker docker dockerfile | Elixir elixir ex exs | Elm elm | EmacsLisp emacs-lisp elisp emacs | Erlang erlang | F# fsharp f# |
Fish fish fishshell | Fortran fortran f90 | GLSL glsl | GraphQL graphql | Gherkin gherkin cucumber | Gnuplot gnuplot |
Go go golang | Groovy groovy | HTML html | HTTP http | Haskell haskell hs | INI ini cfg dosini | Idris idris idr |
JSON json | Java java | JavaScript javascript js | Julia julia jl | Kotlin kotlin | LLVM llvm | Lean lean | Less less |
Lua lua | Makefile make makefile mf bsdmake | Markdown markdown md | Mathematica mathematica mma nb | Matlab matlab |
NASM nasm | Nginx_configuration_file nginx | Nim nim nimrod | Nix nix nixos | OCaml ocaml | Objective-C objective-c objectivec objc |
Octave octave | PHP php php3 php4 php5 | Perl perl pl | PostgreSQL_SQL_dialect postgresql postgres |
PowerShell powershell pwsh posh ps1 psm1 | Prolog prolog | Protocol_Buffer protobuf proto | Puppet puppet |
Python python py sage python3 py3 bazel starlark | Python_2.x python2 py2 | Python_console_session pycon |
Python_Traceback pytb py3tb | QML qml qbs | R splus s r | Racket racket rkt | reStructuredText restructuredtext rst rest |
Ruby ruby rb duby | Rust rust rs | SCSS scss | SQL sql | Sass sass | Scala scala | Scheme scheme scm | Smalltalk smalltalk squeak |
Swift swift | systemverilog systemverilog sv | TOML toml | Tcl tcl | TeX tex latex | Terraform terraform tf hcl |
Text_only text | TypeScript typescript ts | VB.net vb.net vbnet | VHDL vhdl | verilog verilog v | VimL vim |
WebAssembly wast wat | XML xml | XQuery xquery xq | YAML yaml | Zig zig
`;

const BY_ALIAS: ReadonlyMap<string, string> = new Map(
  NAMES.split("|").flatMap((entry) => {
    const [name = "", ...aliases] = entry.trim().split(/\s+/);
    return aliases.map((alias): [string, string] => [alias, name.replaceAll("_", " ")]);
  }),
);

/** The language's name for `data-code-language`; the word itself when it is not known. */
export function languageName(word: string): string {
  return BY_ALIAS.get(word.toLowerCase()) ?? word;
}
