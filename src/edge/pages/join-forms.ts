/** The pages behind an invitation link: a form and its results. */

import { limits } from "../../../schemas/limits.ts";
import type { HttpReply } from "../http/reply.ts";
import { eta, formPage, frame } from "./small-pages.ts";

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

/** Marks the invalid field, for screen readers and visually. */
export const fieldMark = (field: string) =>
  `<% if (it.problem?.field === "${field}") { %> aria-invalid="true" aria-describedby="problem" autofocus<% } %>`;

const joinForm = eta.compile(
  frame(
    "Join <%= it.realmName %>",
    `<h1>Join <%= it.realmName %></h1>
<p><% if (it.inviterName) { %><%= it.inviterName %> has invited you.<% } else { %>You have been invited.<% } %> Choose the name that other users will see.</p>
<% if (it.problem) { %><p class="problem" id="problem" role="alert"><%= it.problem.text %></p><% } %>
<form method="post" accept-charset="utf-8">
<label for="full_name">Your name</label>
<input id="full_name" name="full_name" type="text" value="<%= it.fullName %>" autocomplete="name" required maxlength="${limits.full_name_code_points_max}"${fieldMark("full_name")}>
<% if (it.fixedEmail) { %>
<span class="label" id="address">Email address</span>
<p aria-labelledby="address"><%= it.fixedEmail %></p>
<input type="hidden" name="username" value="<%= it.fixedEmail %>" autocomplete="username">
<% } else { %>
<label for="email">Email address</label>
<input id="email" name="email" type="email" value="<%= it.email %>" autocomplete="username" required maxlength="${limits.email_code_points_max}"${fieldMark("email")}>
<% } %>
<label for="password">Password</label>
<p class="hint" id="password-hint">At least ${limits.password_code_points_min} characters.</p>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${limits.password_code_points_min}"<% if (it.problem?.field !== "password") { %> aria-describedby="password-hint"<% } %>${fieldMark("password")}>
<button type="submit">Join</button>
</form>`,
  ),
);

const addressForm = eta.compile(
  frame(
    "Join <%= it.realmName %>",
    `<h1>Join <%= it.realmName %></h1>
<p><% if (it.inviterName) { %><%= it.inviterName %> has invited you.<% } else { %>You have been invited.<% } %> Enter your email address: you get a link with which you join.</p>
<% if (it.problem) { %><p class="problem" id="problem" role="alert"><%= it.problem %></p><% } %>
<form method="post" accept-charset="utf-8">
<label for="email">Email address</label>
<input id="email" name="email" type="email" value="<%= it.email %>" autocomplete="username" required maxlength="${limits.email_code_points_max}"<% if (it.problem) { %> aria-invalid="true" aria-describedby="problem" autofocus<% } %>>
<button type="submit">Send the link</button>
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

export function joinFormPage(status: number, form: JoinForm): HttpReply {
  return formPage(status, joinForm.call(eta, form));
}

export function joinAddressPage(
  given: Pick<JoinForm, "realmName" | "inviterName" | "email"> & { readonly problem: string | null },
): HttpReply {
  return formPage(given.problem === null ? 200 : 400, addressForm.call(eta, given));
}

export function joinedPage(given: {
  readonly realmName: string;
  readonly email: string;
  readonly site: string;
}): HttpReply {
  // Within single quotes a shell takes every character literally except the quote itself.
  const shellEmail = given.email.replaceAll("'", String.raw`'\''`);
  return formPage(200, welcomePage.call(eta, { ...given, shellEmail }));
}
