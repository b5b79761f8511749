/**
 * The pages behind an invitation link: a form and its results. They have no scripts and no external assets, and work on
 * a phone, with the keyboard only, and in dark mode. All user input is escaped (Eta).
 */
import { Eta } from "eta";
import { limits } from "../../schemas/limits.ts";
import type { HttpReply } from "../runtime/calls.ts";
import { htmlPage } from "./pages.ts";

export interface JoinForm {
  readonly realmName: string;
  /** "" if no longer known. */
  readonly inviterName: string;
  /** The invited address, which cannot be changed; "" for any address. */
  readonly fixedEmail: string;
  /** The values that the user entered. */
  readonly email: string;
  readonly fullName: string;
  /** The invalid field and the problem, or null. */
  readonly problem: { readonly field: JoinField; readonly text: string } | null;
}

export type JoinField = "full_name" | "email" | "password" | "form";

const eta = new Eta();

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

const frame = (title: string, body: string) => `<!doctype html>
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

/** Marks the invalid field, for screen readers and visually. */
const mark = (field: JoinField) =>
  `<% if (it.problem?.field === "${field}") { %> aria-invalid="true" aria-describedby="problem" autofocus<% } %>`;

const formPage = eta.compile(
  frame(
    "Join <%= it.realmName %>",
    `<h1>Join <%= it.realmName %></h1>
<p><% if (it.inviterName) { %><%= it.inviterName %> has invited you.<% } else { %>You have been invited.<% } %> Choose the name that other users will see.</p>
<% if (it.problem) { %><p class="problem" id="problem" role="alert"><%= it.problem.text %></p><% } %>
<form method="post" accept-charset="utf-8">
<label for="full_name">Your name</label>
<input id="full_name" name="full_name" type="text" value="<%= it.fullName %>" autocomplete="name" required maxlength="${limits.full_name_code_points_max}"${mark("full_name")}>
<% if (it.fixedEmail) { %>
<span class="label" id="address">Email address</span>
<p aria-labelledby="address"><%= it.fixedEmail %></p>
<input type="hidden" name="username" value="<%= it.fixedEmail %>" autocomplete="username">
<% } else { %>
<label for="email">Email address</label>
<input id="email" name="email" type="email" value="<%= it.email %>" autocomplete="username" required maxlength="${limits.email_code_points_max}"${mark("email")}>
<% } %>
<label for="password">Password</label>
<p class="hint" id="password-hint">At least ${limits.password_code_points_min} characters.</p>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${limits.password_code_points_min}"<% if (it.problem?.field !== "password") { %> aria-describedby="password-hint"<% } %>${mark("password")}>
<button type="submit">Join</button>
</form>`,
  ),
);

const welcomePage = eta.compile(
  frame(
    "Welcome to <%= it.realmName %>",
    `<h1>Welcome to <%= it.realmName %></h1>
<p>Your account is ready, and you are logged in here.</p>
<p><a href="/"><strong>Open <%= it.realmName %></strong></a></p>
<p>In any other client, sign in with the address <strong><%= it.email %></strong> and your password, with this server address:</p>
<pre><code><%= it.site %></code></pre>
<p>Programs that want an API key get one with the same address and password:</p>
<pre><code>curl <%= it.site %>/api/v1/fetch_api_key \\
  --data-urlencode username='<%= it.shellEmail %>' \\
  --data-urlencode password='...'</code></pre>
<p>You can close this page.</p>`,
  ),
);

const endPage = eta.compile(frame("<%= it.title %>", "<h1><%= it.title %></h1>\n<p><%= it.text %></p>"));

/** Forms may only be sent to their own origin. */
function guarded(page: HttpReply): HttpReply {
  const policy =
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
  const others = page.headers.filter(([name]) => name !== "Content-Security-Policy" && name !== "Referrer-Policy");
  // With "no-referrer" the browser would not name the page's origin when it sends the form.
  return { ...page, headers: [...others, ["Content-Security-Policy", policy], ["Referrer-Policy", "same-origin"]] };
}

export function joinFormPage(status: number, form: JoinForm): HttpReply {
  return guarded(htmlPage(status, formPage.call(eta, form)));
}

export function joinedPage(given: {
  readonly realmName: string;
  readonly email: string;
  readonly site: string;
}): HttpReply {
  // Within single quotes a shell takes every character literally except the quote itself.
  const shellEmail = given.email.replaceAll("'", String.raw`'\''`);
  return guarded(htmlPage(200, welcomePage.call(eta, { ...given, shellEmail })));
}

export function joinEndPage(status: number, said: { readonly title: string; readonly text: string }): HttpReply {
  return guarded(htmlPage(status, endPage.call(eta, said)));
}
