/**
 * The page of the API documents: plain HTML made of the documents themselves. It has no script and no other file, so
 * that it works offline and under a strict policy; browsers open the folded parts when they find a text in them.
 */
import { createHash } from "node:crypto";
import type { AsyncApiDocument } from "./asyncapi.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { OpenApiDocument } from "./openapi.ts";
import { exampleOf } from "./page-example.ts";
import { anchorOf, boundsOf, propertiesOf, typeOf } from "./page-schema.ts";
import { block, escaped, inline } from "./page-text.ts";

const style = `
:root { color-scheme: light dark; --ink: #1b1b1f; --soft: #4a4a52; --paper: #ffffff; --ground: #f1f1f4; --line: #d3d3da;
  --deed: #1d4ed8; --get: #1d6b3a; --post: #1d4ed8; --patch: #8a5a00; --delete: #a61b1b; }
@media (prefers-color-scheme: dark) { :root { --ink: #f1f1f4; --soft: #c2c2cc; --paper: #232329; --ground: #17171b;
  --line: #43434d; --deed: #9db8ff; --get: #86d8a4; --post: #9db8ff; --patch: #efc36b; --delete: #ff9d9d; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
a { color: var(--deed); }
nav { padding: 1rem; font-size: 0.9rem; }
nav ul { margin: 0.5rem 0; padding: 0; list-style: none; columns: 10rem auto; }
main { max-width: 64rem; padding: 0 1rem 4rem; }
@media (min-width: 60rem) { body { display: grid; grid-template-columns: 15rem 1fr; }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; } nav ul { columns: auto; } }
h1 { margin: 1rem 0 0.5rem; font-size: 1.75rem; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.25rem; }
h3 { margin: 1rem 0 0.25rem; font-size: 1rem; }
details { margin: 0.35rem 0; background: var(--paper); border: 1px solid var(--line); border-radius: 0.5rem; }
summary { padding: 0.5rem 0.75rem; cursor: pointer; overflow-wrap: anywhere; }
details > div { padding: 0 0.75rem 0.75rem; overflow-wrap: anywhere; }
summary:focus-visible, a:focus-visible { outline: 3px solid var(--deed); outline-offset: 2px; }
.method { display: inline-block; min-width: 4.2rem; font: 700 0.8rem/1 ui-monospace, monospace; }
.get { color: var(--get); } .post, .put { color: var(--post); } .patch { color: var(--patch); } .delete { color: var(--delete); }
.soft, i { color: var(--soft); font-style: normal; }
code { font: 0.9em ui-monospace, monospace; }
ul { margin: 0.25rem 0; padding-left: 1.25rem; }
pre { margin: 0.25rem 0; padding: 0.5rem; white-space: pre-wrap; background: var(--ground); border-radius: 0.25rem; font-size: 0.85rem; }
table { border-collapse: collapse; }
th, td { padding: 0.15rem 0.75rem 0.15rem 0; text-align: left; vertical-align: top; }
`;

/** The page's own style is all that a browser may use. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

interface Section {
  readonly title: string;
  readonly html: string;
}

type Named = Readonly<Record<string, JsonSchema>>;

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly object[];
  readonly parameters?: readonly JsonSchema[];
  readonly requestBody?: { readonly content: Named };
  readonly responses: Named;
}

const envelope: ReadonlySet<string> = new Set(["result", "msg", "ignored_parameters_unsupported"]);

function fold(id: string, summary: string, body: string): string {
  return `<details id="${escaped(id)}"><summary>${summary}</summary><div>${body}</div></details>\n`;
}

function idOf(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z]+/g, "-");
}

class PageWriter {
  readonly #rest: OpenApiDocument;
  readonly #socket: AsyncApiDocument;

  constructor(rest: OpenApiDocument, socket: AsyncApiDocument) {
    this.#rest = rest;
    this.#socket = socket;
  }

  page(): string {
    const sections = [...this.#areas(), this.#frames(), this.#schemas()];
    const links = sections.map(({ title }) => `<li><a href="#${idOf(title)}">${escaped(title)}</a></li>`).join("");
    const parts = sections.map(
      ({ title, html }) => `<section id="${idOf(title)}"><h2>${escaped(title)}</h2>\n${html}</section>`,
    );
    const { title, version, description } = this.#rest.info;
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} API</title>
<style>${style}</style>
</head>
<body>
<nav><strong>${escaped(title)} API</strong> ${escaped(version)}<ul>${links}</ul></nav>
<main>
<h1>${escaped(title)} API</h1>
<p>The same as documents: <a href="/api/v1/openapi.json">OpenAPI 3.1</a>, <a href="/api/v1/asyncapi.json">AsyncAPI 3.0</a>.</p>
${block(description)}
${parts.join("\n")}
</main>
</body>
</html>
`;
  }

  #areas(): Section[] {
    const byArea = new Map<string, string[]>();
    for (const [path, item] of Object.entries(this.#rest.paths)) {
      for (const [method, operation] of Object.entries(item) as [string, unknown][]) {
        const known = operation as Operation;
        const [area = ""] = known.tags;
        byArea.set(area, [...(byArea.get(area) ?? []), this.#operation(method, path, known)]);
      }
    }
    return [...byArea]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([title, parts]) => ({ title, html: parts.join("") }));
  }

  #operation(method: string, path: string, operation: Operation): string {
    const summary =
      `<span class="method ${method}">${method.toUpperCase()}</span> <code>${escaped(path)}</code> ` +
      `<span class="soft">${inline(operation.summary)}</span>`;
    const isOpen = operation.security.length === 0;
    const login = isOpen ? "No login." : operation.security.length > 1 ? "With or without a login." : "";
    const rules = [login, operation.description ?? ""].filter((rule) => rule !== "").join(" ");
    const body = [
      `<p>${escaped(operation.operationId)}${rules === "" ? "" : `: ${inline(rules)}`}</p>`,
      this.#parameters(operation),
      this.#answer(operation),
      this.#errors(operation),
      exampleOf(method, path, operation, (reference) => this.#parameter(reference)),
    ];
    return fold(operation.operationId, summary, body.join(""));
  }

  #parameters({ parameters = [], requestBody }: Operation): string {
    const rows = parameters.map((parameter) => {
      const { $ref: reference } = parameter;
      const known = typeof reference === "string" ? this.#parameter(reference) : parameter;
      const content = known["content"] as { readonly "application/json": { readonly schema: JsonSchema } } | undefined;
      const schema = (known["schema"] ?? content?.["application/json"].schema ?? {}) as JsonSchema;
      const place = known["in"] === "query" ? [] : [String(known["in"])];
      const kinds = [typeOf(schema), ...place, known["required"] === true ? "" : "optional", boundsOf(schema)];
      const text = typeof known["description"] === "string" ? ` ${inline(known["description"])}` : "";
      const kind = kinds.filter((part) => part !== "").join("; ");
      return `<li><code>${escaped(String(known["name"]))}</code> <i>${kind}</i>${text}${propertiesOf(schema)}</li>`;
    });
    const [form] = Object.values(requestBody?.content ?? {});
    const list = rows.length === 0 ? "" : `<ul>${rows.join("")}</ul>`;
    const fields = form === undefined ? "" : propertiesOf(form["schema"] as JsonSchema);
    return list + fields === "" ? "" : `<h3>Parameters</h3>${list}${fields}`;
  }

  #parameter(reference: string): JsonSchema {
    const name = reference.split("/").at(-1) ?? "";
    return (this.#rest.components.parameters as Named)[name] ?? {};
  }

  #answer({ responses }: Operation): string {
    const success = Object.entries(responses).find(([status]) => /^[23]/.test(status));
    const content = success?.[1]["content"] as { readonly "application/json": { readonly schema: JsonSchema } };
    const fields = propertiesOf(content["application/json"].schema, envelope);
    return `<h3>Answer</h3><p>${inline(String(success?.[1]["description"]))}</p>${fields}`;
  }

  /** Codes with a meaning of their own for this operation: those of all operations are described once. */
  #errors({ responses }: Operation): string {
    const rows = Object.entries(responses).flatMap(([status, response]) => {
      if (!/^[45]/.test(status) || typeof response["$ref"] === "string") return [];
      return [`<tr><td>${status}</td><td>${block(String(response["description"]))}</td></tr>`];
    });
    return rows.length === 0 ? "" : `<h3>Errors</h3><table>${rows.join("")}</table>`;
  }

  #frames(): Section {
    const { info, channels, components } = this.#socket;
    const frames = Object.entries(components.messages as Named).map(([name, message]) => {
      const payload = message["payload"] as JsonSchema;
      return fold(
        `frame-${name}`,
        `<code>${escaped(name)}</code> <span class="soft">${inline(String(message["summary"]))}</span>`,
        typeOf(payload) + propertiesOf(payload),
      );
    });
    return { title: "WebSocket", html: block(info.description) + block(channels.events.description) + frames.join("") };
  }

  #schemas(): Section {
    const all = { ...this.#socket.components.schemas, ...this.#rest.components.schemas };
    const parts = Object.entries(all)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => {
        const text = typeof schema["description"] === "string" ? `<p>${inline(schema["description"])}</p>` : "";
        const type = schema["properties"] === undefined ? `<p>${typeOf(schema)}</p>` : "";
        return fold(anchorOf(name), `<code>${escaped(name)}</code>`, text + type + propertiesOf(schema));
      });
    return { title: "Schemas", html: parts.join("") };
  }
}

export function documentPage(rest: OpenApiDocument, socket: AsyncApiDocument): string {
  return new PageWriter(rest, socket).page();
}
