/**
 * Small pages behind links: forms and messages, without scripts and external assets. They work on a phone, with the
 * keyboard only, and in dark mode. All input is escaped (Eta).
 */
import { Eta } from "eta";
import type { HttpReply } from "../runtime/calls.ts";
import { htmlPage } from "./pages.ts";

export const eta = new Eta();

const style = `
:root { color-scheme: light dark; --ink: #1b1b1f; --soft: #4a4a52; --paper: #ffffff; --ground: #f1f1f4; --line: #767680;
  --deed: #1d4ed8; --deed-ink: #ffffff; --wrong: #a61b1b; }
@media (prefers-color-scheme: dark) { :root { --ink: #f1f1f4; --soft: #c2c2cc; --paper: #232329; --ground: #17171b;
  --line: #8e8e99; --deed: #9db8ff; --deed-ink: #10131f; --wrong: #ff9d9d; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 28rem; margin: 4vh auto; padding: 1.5rem; background: var(--paper); border-radius: 0.75rem; }
h1 { margin: 0 0 0.75rem; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
p:last-child { margin-bottom: 0; }
a { color: var(--deed); }
label, .label { display: block; font-weight: 600; }
.hint { margin: 0; color: var(--soft); font-size: 0.9rem; }
input { width: 100%; margin: 0.25rem 0 1rem; padding: 0.6rem 0.75rem; border: 1px solid var(--line); border-radius: 0.5rem;
  background: var(--paper); color: inherit; font: inherit; }
input[aria-invalid] { border: 2px solid var(--wrong); }
input:focus-visible, button:focus-visible, a:focus-visible { outline: 3px solid var(--deed); outline-offset: 2px; }
button { width: 100%; padding: 0.75rem; border: 0; border-radius: 0.5rem; background: var(--deed); color: var(--deed-ink);
  font: inherit; font-weight: 600; cursor: pointer; }
.problem { padding: 0.6rem 0.75rem; border-left: 4px solid var(--wrong); color: var(--wrong); font-weight: 600; }
pre { padding: 0.75rem; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--ground); border-radius: 0.5rem; font-size: 0.85rem; }
`;

/** A whole document. Both parts are Eta templates over the page's data (`it`). */
export const frame = (title: string, body: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const replaced: ReadonlySet<string> = new Set(["Content-Security-Policy", "Referrer-Policy"]);

/**
 * A page with a form that may only be sent to this server. The browser names the page's origin when it sends the form,
 * which it does not with "no-referrer"; other servers learn nothing of the page's address, which may contain a key.
 */
export function formPage(status: number, html: string): HttpReply {
  const page = htmlPage(status, html);
  const headers: HttpReply["headers"] = [
    ...page.headers.filter(([name]) => !replaced.has(name)),
    ["Content-Security-Policy", policy],
    ["Referrer-Policy", "same-origin"],
  ];
  return { ...page, headers };
}

const message = eta.compile(
  frame(
    "<%= it.title %>",
    `<h1><%= it.title %></h1>
<p><%= it.text %></p>
<% if (it.link) { %><p><a href="<%= it.link.to %>"><%= it.link.text %></a></p><% } %>`,
  ),
);

export interface Message {
  readonly title: string;
  readonly text: string;
  /** Where to go next, on this server. */
  readonly link?: { readonly to: string; readonly text: string };
}

export function messagePage(status: number, said: Message): HttpReply {
  return htmlPage(status, message.call(eta, said));
}

/** Too many attempts of one address (D28). */
export function tooManyPage(retryAfterS: number): HttpReply {
  const seconds = Math.ceil(retryAfterS);
  const page = messagePage(429, { title: "Too many attempts", text: `Try again in ${seconds} seconds.` });
  return { ...page, headers: [...page.headers, ["Retry-After", String(seconds)]] };
}
