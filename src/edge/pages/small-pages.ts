/**
 * Small pages behind links: forms and messages, without scripts and external assets. They work on a phone, with the
 * keyboard only, and in dark mode. All input is escaped (Eta).
 */

import { Eta } from "eta";
import { htmlPage } from "../http/pages.ts";
import type { HttpReply } from "../http/reply.ts";

export const eta = new Eta();

const style = `
:root { color-scheme: light dark; --ink: #1f2028; --soft: #5d5f70; --paper: #ffffff; --ground: #f6f6f9; --line: #c6c6d2;
  --edge: #e2e2ea; --deed: #4450c4; --deed-ink: #ffffff; --wrong: #b3261e; --wrong-soft: #fdecea; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e8ee; --soft: #a4a7b8; --paper: #17181d; --ground: #1d1e25;
  --line: #474a59; --edge: #2e303a; --deed: #aab2ff; --deed-ink: #14163a; --wrong: #ffb0a8; --wrong-soft: #40211f; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 20px; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Inter, Roboto, "Noto Sans", "Liberation Sans", sans-serif; }
main { max-width: 26rem; margin: 6vh auto; padding: 32px; border: 1px solid var(--edge); background: var(--paper);
  border-radius: 14px; box-shadow: 0 1px 2px rgb(20 20 40 / 8%), 0 8px 28px rgb(20 20 40 / 14%); }
.mark { display: block; width: 52px; height: 52px; margin-bottom: 14px; color: var(--deed); }
.mark path { fill: var(--deed-ink); }
h1 { margin: 0 0 0.75rem; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
p:last-child { margin-bottom: 0; }
a { color: var(--deed); }
label, .label { display: block; font-weight: 550; }
.hint { margin: 0; color: var(--soft); font-size: 0.9rem; }
input, textarea { display: block; width: 100%; margin: 4px 0 14px; padding: 7px 10px; border: 1px solid var(--line); border-radius: 8px;
  background: var(--paper); color: inherit; font: inherit; }
input[aria-invalid], textarea[aria-invalid] { border: 2px solid var(--wrong); }
input:focus-visible, textarea:focus-visible, button:focus-visible, a:focus-visible { outline: 2px solid var(--deed); outline-offset: 2px; }
button { width: 100%; padding: 8px 12px; border: 0; border-radius: 8px; background: var(--deed); color: var(--deed-ink);
  font: inherit; font-weight: 600; cursor: pointer; }
.problem { padding: 8px 12px; border-radius: 5px; background: var(--wrong-soft); color: var(--wrong); }
pre { padding: 0.75rem; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--ground); border-radius: 5px; font-size: 0.85rem; }
`;

/** The look of the page (packages/web/src/styles/tokens.css) in one file. */
const mark =
  '<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="currentColor"/><path d="M8 10.5A2.5 2.5 0 0 1 10.500 8h11A2.500 2.500 0 0 1 24 10.500v7a2.500 2.500 0 0 1-2.500 2.500H16l-4.500 4v-4h-1A2.500 2.500 0 0 1 8 17.500z"/></svg>';

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
${mark}
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

const messageTemplate = eta.compile(
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

export function messagePage(status: number, message: Message): HttpReply {
  return htmlPage(status, messageTemplate.call(eta, message));
}

/**
 * Says what happened to the email with a link that somebody has asked for. Without a mail server it is a file, which the
 * operator must pass on (D276).
 * @param condition the beginning of the sentence: when there is such an email
 */
export function linkSentPage(condition: string, sendsEmail: boolean, advice: string): HttpReply {
  return sendsEmail
    ? messagePage(200, {
        title: "Look into your mail",
        text: `${condition} an e-mail with a link is on its way to it. The link is valid for 24 hours. If nothing arrives, look into the folder for spam, or ask an administrator of the organization. ${advice}`,
      })
    : messagePage(200, {
        title: "This server sends no e-mails",
        text: `${condition} the server has written an e-mail with a link to a file, because no mail server is set up. Ask the operator of the server for the link, which is valid for 24 hours. ${advice}`,
      });
}

/** Too many attempts of one address (D28). */
export function tooManyPage(retryAfterS: number): HttpReply {
  const seconds = Math.ceil(retryAfterS);
  const page = messagePage(429, { title: "Too many attempts", text: `Try again in ${seconds} seconds.` });
  return { ...page, headers: [...page.headers, ["Retry-After", String(seconds)]] };
}
