/** The pages that set a new password without the old one (D257): what they show. */

import { limits } from "../../../schemas/limits.ts";
import type { HttpReply } from "../http/reply.ts";
import { eta, formPage, frame, linkSentPage } from "./small-pages.ts";

const problem = '<% if (it.problem) { %><p class="problem" id="problem" role="alert"><%= it.problem %></p><% } %>';
/** Marks the invalid field, for screen readers and visually. */
const mark = '<% if (it.problem) { %> aria-invalid="true" aria-describedby="problem" autofocus<% } %>';

const askForm = eta.compile(
  frame(
    "Reset your password",
    `<h1>Reset your password</h1>
<p>Enter the e-mail address of your account on <%= it.realmName %>. You get a link that sets a new password.</p>
${problem}
<form method="post" accept-charset="utf-8">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" value="<%= it.email %>" autocomplete="username" required maxlength="${limits.email_code_points_max}"${mark}>
<button type="submit">Send the link</button>
</form>`,
  ),
);

const setForm = eta.compile(
  frame(
    "Set a new password",
    `<h1>Set a new password</h1>
<p>For the account <%= it.email %> on <%= it.realmName %>. All devices will be logged out.</p>
${problem}
<form method="post" accept-charset="utf-8">
<input type="hidden" name="username" value="<%= it.email %>" autocomplete="username">
<label for="password">New password</label>
<p class="hint" id="password-hint">At least ${limits.password_code_points_min} characters.</p>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${limits.password_code_points_min}"<% if (!it.problem) { %> aria-describedby="password-hint"<% } %>${mark}>
<button type="submit">Set the password</button>
</form>`,
  ),
);

export function askPage(given: {
  readonly realmName: string;
  readonly email: string;
  readonly problem: string | null;
}): HttpReply {
  return formPage(given.problem === null ? 200 : 400, askForm.call(eta, given));
}

export function setPage(given: {
  readonly realmName: string;
  readonly email: string;
  readonly problem: string | null;
}): HttpReply {
  return formPage(given.problem === null ? 200 : 400, setForm.call(eta, given));
}

/** The same for every address, so that nobody learns who has an account here. */
export function askedPage(email: string, sendsEmail: boolean): HttpReply {
  return linkSentPage(`If ${email} is the address of an account here,`, sendsEmail, "");
}
