/**
 * The pages behind an invitation link (spec 4.14): a form for a name, an address and a password, which creates an
 * account. The key in the link is the secret, so no other site can submit the form. Viewing the page changes nothing.
 * Where only addresses in some domains may join, a reusable link first sends an email to the address (D275).
 */

import { command } from "../../../actors/protocol/decision.ts";
import { addressConfirmation, confirmsAddresses, standing } from "../../../domain/invites.ts";
import { checkFullName, codePoints, isEmailAddress } from "../../../domain/text.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import type { InvitationRecord, InvitationState } from "../../../schemas/invites.ts";
import { limits } from "../../../schemas/limits.ts";
import { hashApiKey } from "../../operations/identity/authentication.ts";
import type { VerifiedLogin } from "../../operations/identity/password-login.ts";
import type { Passwords } from "../../operations/identity/passwords.ts";
import { newSecret } from "../../operations/identity/secrets.ts";
import { startSession } from "../../operations/identity/sessions.ts";
import { joinLink, joinPrefix as prefix } from "../../operations/links.ts";
import type { RateLimits } from "../../operations/rate-limits.ts";
import type { Realm } from "../../runtime/realm.ts";
import { sessionCookie } from "../http/credentials.ts";
import { errorPage, type PageRequest, type PageRoute, redirectPage } from "../http/pages.ts";
import type { HttpReply } from "../http/reply.ts";
import { type JoinField, joinAddressPage, joinedPage, joinFormPage } from "./join-forms.ts";
import { linkSentPage, messagePage, tooManyPage } from "./small-pages.ts";
import type { WebPage } from "./web-page.ts";

export interface JoinTools {
  readonly passwords: Passwords;
  readonly rates: RateLimits;
  /** The organization's address. The request's Host header is not trusted for links. */
  readonly siteOf: (realm: Realm) => string;
  /** Whether there is a mail server; otherwise emails are files (D276). */
  readonly sendsEmail: boolean;
  /** Null: it is not built. */
  readonly webPage: WebPage | null;
}

/** Texts for links that are no longer valid. The holder of a key was invited, so its state is no secret to them. */
const ends: Readonly<Record<Exclude<InvitationState, "valid"> | "unknown", string>> = {
  unknown: "This invitation is not known here. Look whether the link is whole, or ask for a new one.",
  expired: "This invitation has expired. Ask for a new one.",
  revoked: "This invitation has been revoked. Ask for a new one.",
  used: "This invitation has been used already. Log in with the account that was made with it.",
};

export function joinPages(tools: JoinTools): readonly PageRoute[] {
  return [{ prefix, takesForms: true, serve: (request) => serve(request, tools) }];
}

function serve(request: PageRequest, tools: JoinTools): HttpReply | Promise<HttpReply> {
  const { rates } = tools;
  const address = request.address();
  const looked = rates.take("anonymous", address);
  if (looked !== null && looked.retryAfterS > 0) return tooManyPage(looked.retryAfterS);
  // A page of another site could make a user work in an account that somebody else can read.
  if (request.method === "POST" && request.isFromForeignPage) return errorPage(refuse.crossSite());
  const { view } = request.realm;
  const invited = invitationOf(request);
  if (invited === undefined) return endedPage("unknown");
  const state = standing(view, invited.invitation);
  if (state === "valid" && invited.email === "" && confirmsAddresses(view)) {
    return request.method === "POST"
      ? sendConfirmation(request, invited, { ...tools, address })
      : addressForm(request, invited, "", null);
  }
  if (request.method === "POST") return submit(request, invited, { ...tools, address });
  return state === "valid" ? form(request, invited, noEntries, null) : endedPage(state);
}

/** The invitation that a key opens. */
interface Invited {
  readonly invitation: InvitationRecord;
  /** The only address that may join; "": any. */
  readonly email: string;
  /** The hash of the key, if it confirms an address that joins by a reusable link (D275). */
  readonly confirmation: string | null;
}

/** With and without a trailing slash. */
function invitationOf({ realm: { view }, rest }: PageRequest): Invited | undefined {
  const keyHash = hashApiKey(rest.replace(/\/$/, ""));
  const confirmed = addressConfirmation(view, keyHash);
  const id = confirmed?.invitationId ?? view.row("invitationKeys", keyHash)?.id;
  const invitation = id === undefined ? undefined : view.row("invitations", id);
  if (invitation === undefined) return undefined;
  const confirmation = confirmed === undefined ? null : keyHash;
  return { invitation, email: confirmed?.email ?? invitation.email, confirmation };
}

function inviterName({ realm }: PageRequest, { invitation }: Invited): string {
  return realm.view.users.get(invitation.inviterId)?.fullName ?? "";
}

function addressForm(request: PageRequest, invited: Invited, email: string, problem: string | null): HttpReply {
  const { name: realmName } = request.realm.view.realm;
  return joinAddressPage({ realmName, inviterName: inviterName(request, invited), email, problem });
}

/** Counted like a failed login, because it causes an email; the turn bounds the emails to one address. */
async function sendConfirmation(request: PageRequest, invited: Invited, tools: Submission): Promise<HttpReply> {
  const { realm } = request;
  const sent = request.form();
  if (isRefusal(sent)) return unreadable();
  const email = (sent.values.get("email") ?? "").trim();
  if (!isEmailAddress(email, limits.email_code_points_max)) {
    return addressForm(request, invited, email, "Enter a valid email address.");
  }
  const attempt = tools.rates.take("login", tools.address);
  if (attempt !== null && attempt.retryAfterS > 0) return tooManyPage(attempt.retryAfterS);
  const key = newSecret();
  const mail = { email, keyHash: hashApiKey(key), link: joinLink(tools.siteOf(realm), key) };
  const to = { actor: "invitation", id: invited.invitation.id } as const;
  const reply = await realm.dispatcher.ask(command(to, "invitation.confirm-address", mail, null));
  if (reply.kind === "ok") {
    return linkSentPage(`If ${email} has no account here yet,`, tools.sendsEmail, "If it has one, log in with it.");
  }
  if (reply.code === "NOT_FOUND")
    return endedPage(standing(realm.view, invited.invitation) === "expired" ? "expired" : "revoked");
  return reply.code === "BAD_REQUEST" ? addressForm(request, invited, email, reply.msg) : unavailable();
}

function endedPage(state: keyof typeof ends): HttpReply {
  return messagePage(404, { title: "This link is not valid", text: ends[state], link: { to: "/", text: "Log in" } });
}

/** The person of a new account. */
export interface PersonEntries {
  readonly fullName: string;
  readonly email: string;
}

const noEntries: PersonEntries = { fullName: "", email: "" };

export interface PersonProblem {
  readonly field: JoinField;
  readonly text: string;
}

/** With a problem: shows the form again with the entered values, except the password. */
function form(
  request: PageRequest,
  invited: Invited,
  entries: PersonEntries,
  problem: PersonProblem | null,
): HttpReply {
  return joinFormPage(problem === null ? 200 : 400, {
    ...entries,
    realmName: request.realm.view.realm.name,
    inviterName: inviterName(request, invited),
    fixedEmail: invited.email,
    problem,
  });
}

interface Submission extends JoinTools {
  readonly address: string;
}

async function submit(request: PageRequest, invited: Invited, tools: Submission): Promise<HttpReply> {
  const { realm } = request;
  const { invitation } = invited;
  const sent = request.form();
  if (isRefusal(sent)) return unreadable();
  const text = (name: string) => sent.values.get(name) ?? "";
  const email = invited.email === "" ? text("email").trim() : invited.email;
  const entries = { fullName: text("full_name").trim(), email };
  const password = text("password");
  const state = standing(realm.view, invitation);
  const problem = personProblem(entries, password);
  if (state === "valid" && problem !== null) return form(request, invited, entries, problem);
  if (state === "expired" || state === "revoked") return endedPage(state);

  // Counted before the slow hash, or many concurrent attempts would all pass; successful attempts are not counted.
  const attempt = tools.rates.take("login", tools.address);
  if (attempt !== null && attempt.retryAfterS > 0) return tooManyPage(attempt.retryAfterS);
  const page = state === "used" ? null : await join(request, invited, { ...entries, password }, tools);
  if (page?.status === 200 || page?.status === 302) tools.rates.giveBack("login", tools.address);
  if (page !== null) return page;
  // The form was submitted twice, or the user already has an account: a user with the right password gets the success
  // page.
  const own = await ownLogin(request, email, password, tools);
  if (own !== null) {
    tools.rates.giveBack("login", tools.address);
    return welcome(request, own, tools);
  }
  tools.rates.failed("password", tools.address);
  const now = standing(realm.view, invitation);
  if (now !== "valid") return endedPage(now);
  return form(request, invited, entries, {
    field: "email",
    text: "This address has an account already. Log in with it, or use another one.",
  });
}

/** The rules of POST /users, in plain words. */
export function personProblem({ fullName, email }: PersonEntries, password: string): PersonProblem | null {
  const badName = checkFullName(fullName, limits.full_name_code_points_max);
  if (badName !== null) return { field: "full_name", text: nameProblems[badName.msg] ?? badName.msg };
  if (!isEmailAddress(email, limits.email_code_points_max)) {
    return { field: "email", text: "Enter a valid email address." };
  }
  if (codePoints(password) < limits.password_code_points_min) {
    const least = limits.password_code_points_min;
    return { field: "password", text: `This password is too weak: it needs at least ${least} characters.` };
  }
  if (password.length > limits.password_bytes_max) return { field: "password", text: "This password is too long." };
  return null;
}

const nameProblems: Readonly<Record<string, string>> = {
  "Name too short!": "Enter your name.",
  "Name too long!": `This name is too long: at most ${limits.full_name_code_points_max} characters.`,
  "Invalid characters in name!": 'A name cannot hold the characters * ` \\ > " @ or control characters.',
  "Invalid format!": "A name cannot end with | and a number.",
};

/** @returns null if the address already has an account, or the invitation was used up meanwhile */
async function join(
  request: PageRequest,
  invited: Invited,
  { fullName, email, password }: PersonEntries & { readonly password: string },
  tools: Submission,
): Promise<HttpReply | null> {
  const { realm } = request;
  if (realm.view.users.byEmail(email) !== undefined) return null;
  const passwordHash = await tools.passwords.hash(password);
  if (passwordHash === null) return unavailable();
  const to = { actor: "invitation", id: invited.invitation.id } as const;
  const person = { email, confirmation: invited.confirmation, fullName, passwordHash };
  const joined = await realm.dispatcher.ask(command(to, "invitation.accept", person, null));
  const user = realm.view.users.byEmail(email);
  if (joined.kind === "ok" && user !== undefined) return welcome(request, { user, passwordHash }, tools);
  if (joined.kind === "ok" || user !== undefined) return null;
  return refusedPage(request, invited, { fullName, email }, joined);
}

function refusedPage(
  request: PageRequest,
  invited: Invited,
  entries: PersonEntries,
  refused: Refusal,
): HttpReply | null {
  if (refused.code === "NOT_FOUND") {
    const row = request.realm.view.row("invitations", invited.invitation.id);
    const state = row === undefined ? "unknown" : standing(request.realm.view, row);
    return endedPage(state === "valid" ? "unknown" : state);
  }
  if (refused.code !== "BAD_REQUEST") return unavailable();
  const isName = refused.msg.startsWith("Unique names");
  const problem: PersonProblem = isName
    ? { field: "full_name", text: "Another user already has this name. Choose a different one." }
    : { field: "form", text: refused.msg };
  return form(request, invited, entries, problem);
}

function unreadable(): HttpReply {
  return messagePage(400, { title: "This form cannot be read", text: "Go back and try again." });
}

function unavailable(): HttpReply {
  return messagePage(503, { title: "The account cannot be created right now", text: "Try again later." });
}

async function ownLogin(
  { realm }: PageRequest,
  email: string,
  password: string,
  { passwords }: JoinTools,
): Promise<VerifiedLogin | null> {
  const holder = realm.view.users.byEmail(email);
  const stored = holder === undefined ? undefined : realm.view.row("credentials", holder.id);
  const matches = await passwords.verify(stored?.passwordHash ?? null, password);
  if (matches !== true || holder?.isActive !== true) return null;
  return { user: holder, passwordHash: stored?.passwordHash ?? null };
}

/** Logs the user in (D256). A browser that says so continues in the page; others get what a client needs to log in. */
async function welcome(request: PageRequest, login: VerifiedLogin, tools: Submission): Promise<HttpReply> {
  const { realm, siteUrl, userAgent } = request;
  const started = await startSession(realm, login, { siteUrl, userAgent, address: tools.address });
  const joined = joinedPage({ realmName: realm.view.realm.name, email: login.user.email, site: siteUrl });
  if (started.kind === "refused") return joined;
  const page = tools.webPage !== null && request.fetchSite === "same-origin" ? redirectPage("/") : joined;
  const cookie = sessionCookie(started.session ?? null, siteUrl.startsWith("https:"));
  return { ...page, headers: [...page.headers, cookie] };
}
