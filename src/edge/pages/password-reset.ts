/**
 * Sets a new password without the old one (D257): a page that sends a link by email, and the page behind the link. The
 * key in the link is the secret, so no other site can submit its form. Viewing the pages changes nothing.
 *
 * The pages that set a new password without the old one (D257): what they show.
 */
import { command } from "../../../actors/protocol/decision.ts";
import { accountOfReset, passwordResetPrefix, resetLink } from "../../../domain/password-resets.ts";
import { codePoints, isEmailAddress } from "../../../domain/text.ts";
import { isRefusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { hashApiKey } from "../../operations/identity/authentication.ts";
import { verifyLogin } from "../../operations/identity/password-login.ts";
import type { Passwords } from "../../operations/identity/passwords.ts";
import { newSecret } from "../../operations/identity/secrets.ts";
import type { RateLimits } from "../../operations/rate-limits.ts";
import type { Realm } from "../../runtime/realm.ts";
import { errorPage, type PageRequest, type PageRoute } from "../http/pages.ts";
import type { HttpReply } from "../http/reply.ts";
import { eta, formPage, frame, linkSentPage, messagePage, tooManyPage } from "./small-pages.ts";

const problem = '<% if (it.problem) { %><p class="problem" id="problem" role="alert"><%= it.problem %></p><% } %>';
/** Marks the invalid field, for screen readers and visually. */
const mark = '<% if (it.problem) { %> aria-invalid="true" aria-describedby="problem" autofocus<% } %>';

const askTemplate = eta.compile(
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

const setTemplate = eta.compile(
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

function askPage(given: {
  readonly realmName: string;
  readonly email: string;
  readonly problem: string | null;
}): HttpReply {
  return formPage(given.problem === null ? 200 : 400, askTemplate.call(eta, given));
}

function setPage(given: {
  readonly realmName: string;
  readonly email: string;
  readonly problem: string | null;
}): HttpReply {
  return formPage(given.problem === null ? 200 : 400, setTemplate.call(eta, given));
}

/** The same for every address, so that it does not reveal who has an account here. */
function requestedPage(email: string, sendsEmail: boolean): HttpReply {
  return linkSentPage(`If ${email} is the address of an account here,`, sendsEmail, "");
}

export interface PasswordResetTools {
  readonly passwords: Passwords;
  readonly rates: RateLimits;
  /** The organization's address. The request's Host header is not trusted for links. */
  readonly siteOf: (realm: Realm) => string;
  /** Whether there is a mail server; otherwise emails are files (D276). */
  readonly sendsEmail: boolean;
}

export function passwordResetPages(tools: PasswordResetTools): readonly PageRoute[] {
  return [{ prefix: passwordResetPrefix, takesForms: true, serve: (request) => serve(request, tools) }];
}

function serve(request: PageRequest, tools: PasswordResetTools): HttpReply | Promise<HttpReply> {
  const looked = tools.rates.take("anonymous", request.address());
  if (looked !== null && looked.retryAfterS > 0) return tooManyPage(looked.retryAfterS);
  // A page of another site could make browsers ask for emails to somebody, each from an address of its own.
  if (request.method === "POST" && request.isFromForeignPage) return errorPage(refuse.crossSite());
  const key = request.rest.replace(/\/$/, "");
  if (key === "") return request.method === "POST" ? ask(request, tools) : askForm(request, "", null);
  return request.method === "POST" ? submit(request, key, tools) : setForm(request, key, null);
}

function askForm({ realm }: PageRequest, email: string, problem: string | null): HttpReply {
  return askPage({ realmName: realm.view.realm.name, email, problem });
}

/** Counted like a failed login, whether there is an account or not; the turn bounds the emails to one account. */
async function ask(request: PageRequest, { rates, siteOf, sendsEmail }: PasswordResetTools): Promise<HttpReply> {
  const email = textOf(request, "email")?.trim();
  if (email === undefined) return unreadable();
  if (!isEmailAddress(email, limits.email_code_points_max))
    return askForm(request, email, "Enter a valid e-mail address.");
  const attempt = rates.take("login", request.address());
  if (attempt !== null && attempt.retryAfterS > 0) return tooManyPage(attempt.retryAfterS);
  const { realm } = request;
  const key = newSecret();
  const params = { email, keyHash: hashApiKey(key), link: resetLink(siteOf(realm), key) };
  const reply = await realm.dispatcher.ask(command({ actor: "realm" }, "password.reset-request", params, null));
  return reply.kind === "ok" ? requestedPage(email, sendsEmail) : unavailable();
}

function accountOf({ realm }: PageRequest, key: string) {
  return accountOfReset(realm.view, realm.view.row("passwordResets", hashApiKey(key)));
}

function setForm(request: PageRequest, key: string, problem: string | null): HttpReply {
  const user = accountOf(request, key);
  if (user === undefined) return gone();
  return setPage({ realmName: request.realm.view.realm.name, email: user.email, problem });
}

async function submit(request: PageRequest, key: string, tools: PasswordResetTools): Promise<HttpReply> {
  const { passwords } = tools;
  if (accountOf(request, key) === undefined) return sentAgain(request, tools);
  const password = textOf(request, "password");
  if (password === undefined) return unreadable();
  const problem = problemOf(password);
  if (problem !== null) return setForm(request, key, problem);
  const passwordHash = await passwords.hash(password);
  if (passwordHash === null) return unavailable();
  const params = { keyHash: hashApiKey(key), passwordHash };
  const { realm } = request;
  const set = await realm.dispatcher.ask(command({ actor: "realm" }, "password.reset", params, null));
  if (set.kind === "refused") return set.code === "NOT_FOUND" ? sentAgain(request, tools) : unavailable();
  return done(realm);
}

function done(realm: Realm): HttpReply {
  return messagePage(200, {
    title: "Your password is set",
    text: `Log in to ${realm.view.realm.name} with it. All devices were logged out. API keys that were written to a file for programs stay valid: if somebody else may know one, replace it in your settings.`,
    link: { to: "/", text: "Log in" },
  });
}

/**
 * A user who presses the button twice sees only the second answer, whose link is used. The right password gets the
 * answer of the first one; another one is a failed login, so guessing a link costs what guessing a password does.
 */
async function sentAgain(request: PageRequest, tools: PasswordResetTools): Promise<HttpReply> {
  const [username, password] = [textOf(request, "username"), textOf(request, "password")];
  if (username === undefined || password === undefined) return unreadable();
  if (username === "" || password === "") return gone();
  const login = await verifyLogin(request.realm, { username, password }, request.address(), tools);
  return "user" in login ? done(request.realm) : gone();
}

function problemOf(password: string): string | null {
  const least = limits.password_code_points_min;
  if (codePoints(password) < least) return `This password is too weak: it needs at least ${least} characters.`;
  return Buffer.byteLength(password) > limits.password_bytes_max ? "This password is too long." : null;
}

/** A field of the form; undefined: it cannot be read. */
function textOf(request: PageRequest, name: string): string | undefined {
  const sent = request.form();
  return isRefusal(sent) ? undefined : (sent.values.get(name) ?? "");
}

/** For an unknown, used, replaced or expired link; the page does not reveal which. */
function gone(): HttpReply {
  return messagePage(404, {
    title: "This link is not valid",
    text: "It was used already, replaced by a newer one, or is too old.",
    link: { to: passwordResetPrefix, text: "Ask for a new link" },
  });
}

function unreadable(): HttpReply {
  return messagePage(400, { title: "This form cannot be read", text: "Go back and try again." });
}

function unavailable(): HttpReply {
  return messagePage(503, { title: "The password cannot be changed right now", text: "Try again later." });
}
