// Maps languages to tokenizers. They are loaded on first use: loading all of them would add a quarter of a second to a
// start. A tokenizer handles one language or a family (PostgreSQL and MySQL are both kinds of SQL).
import { createRequire } from "node:module";
import type { python } from "@codemirror/legacy-modes/mode/python";

/** All tokenizers have this type. */
type Tokenizer = typeof python;

/** Whether words without a style are identifiers (code) or plain words (text). */
export type Flavor = "code" | "text";

export interface Highlighter {
  readonly parser: Tokenizer;
  readonly flavor: Flavor;
  /** The tokenizer's family, on which the meaning of its styles depends (highlight-classes.ts). */
  readonly family: string;
}

// `file export = language, language, ...`; in the table TEXT plain words are not identifiers.
const CODE = `
clike c = C | clike cpp = C++, Arduino, CUDA | clike csharp = C#, aspx-cs | clike dart = Dart | clike java = Java
clike kotlin = Kotlin | clike objectiveC = Objective-C | clike objectiveCpp = Objective-C++ | clike scala = Scala
clike shader = GLSL, HLSL | clike ceylon = Ceylon | clojure clojure = Clojure, ClojureScript
cmake cmake = CMake | cobol cobol = COBOL, COBOLFree | coffeescript coffeeScript = CoffeeScript
commonlisp commonLisp = Common Lisp, EmacsLisp | crystal crystal = Crystal | css css = CSS | css sCSS = SCSS | css less = LessCss
cypher cypher = Cypher | d d = D | dockerfile dockerFile = Docker | dylan dylan = Dylan | ecl ecl = ECL
eiffel eiffel = Eiffel | elm elm = Elm | erlang erlang = Erlang, Erlang erl session | factor factor = Factor | forth forth = Forth
fortran fortran = Fortran, FortranFixed | gas gas = GAS | go go = Go | groovy groovy = Groovy | haskell haskell = Haskell
haxe haxe = Haxe | idl idl = IDL | javascript javascript = JavaScript | javascript typescript = TypeScript
javascript json = JSON, JSON-LD | julia julia = Julia | livescript liveScript = LiveScript | lua lua = Lua, Luau
mathematica mathematica = Mathematica | mllike oCaml = OCaml, ReasonML | mllike fSharp = F# | mllike sml = Standard ML
modelica modelica = Modelica | nginx nginx = Nginx configuration file | nsis nsis = NSIS | octave octave = Octave, Matlab
pascal pascal = Delphi | perl perl = Perl | pig pig = Pig | powershell powerShell = PowerShell | properties properties = INI, Properties
protobuf protobuf = Protocol Buffer | puppet puppet = Puppet | python python = Python, Python 2.x
python cython = Cython | q q = Q | r r = S | ruby ruby = Ruby | rust rust = Rust | sas sas = SAS | sass sass = Sass
scheme scheme = Scheme, Racket | shell shell = Bash, Fish, Tcsh | smalltalk smalltalk = Smalltalk | sparql sparql = SPARQL
sql standardSQL = SQL | sql pgSQL = PostgreSQL SQL dialect, PL/pgSQL | sql mySQL = MySQL | sql msSQL = Transact-SQL
swift swift = Swift | tcl tcl = Tcl | toml toml = TOML | turtle turtle = Turtle | vb vb = VB.net
vbscript vbScript = VBScript | verilog verilog = verilog, systemverilog | vhdl vhdl = vhdl | wast wast = WebAssembly
webidl webIDL = Web IDL | xquery xQuery = XQuery | 
`;
const TEXT = `
diff diff = Diff, Darcs Patch | dtd dtd = DTD | gherkin gherkin = Gherkin | http http = HTTP
jinja2 jinja2 = Django/Jinja, HTML+Django/Jinja | pug pug = Pug | stex stex = TeX | 
troff troff = Groff | xml html = HTML, Genshi | xml xml = XML, XSLT | yaml yaml = YAML
`;

interface Entry {
  readonly file: string;
  readonly name: string;
  readonly flavor: Flavor;
}

const load = createRequire(import.meta.url);
const loaded = new Map<Entry, Highlighter | null>();
let entries: ReadonlyMap<string, Entry> | null = null;

/**
 * Whether there is a tokenizer for the language; does not load it.
 * @param language its canonical name
 */
export function hasHighlighter(language: string): boolean {
  return getEntries().has(language);
}

/** Returns null if there is no tokenizer for the language. */
export function highlighterOf(language: string): Highlighter | null {
  const entry = getEntries().get(language);
  if (entry === undefined) return null;
  const known = loaded.get(entry);
  if (known !== undefined) return known;
  const parsers = load(`@codemirror/legacy-modes/mode/${entry.file}`) as Record<string, Tokenizer>;
  const parser = parsers[entry.name];
  const highlighter = parser === undefined ? null : { parser, flavor: entry.flavor, family: entry.file };
  loaded.set(entry, highlighter);
  return highlighter;
}

/** The names of all languages that have a tokenizer. */
export function highlightedLanguages(): Iterable<string> {
  return getEntries().keys();
}

function getEntries(): ReadonlyMap<string, Entry> {
  entries ??= new Map([...readEntries(CODE, "code"), ...readEntries(TEXT, "text")]);
  return entries;
}

function readEntries(table: string, flavor: Flavor): [language: string, entry: Entry][] {
  return table
    .trim()
    .split(/\||\n/)
    .flatMap((line) => {
      const [parser = "", languages = ""] = line.split("=");
      const [file = "", name = ""] = parser.trim().split(" ");
      const entry = { file, name, flavor };
      const names = languages.split(",").map((language) => language.trim());
      return names.filter((language) => language !== "").map((language): [string, Entry] => [language, entry]);
    });
}
