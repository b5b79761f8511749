/**
 * The pages behind an invitation link (spec 4.14): a form for a name, an address and a password, which creates an
 * account. The key in the link is the secret, so no other site can submit the form. Viewing the page changes nothing.
 */
import { command } from "../../actors/protocol/commands.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { InvitationRecord, InvitationState } from "../../schemas/invites.ts";
import { limits } from "../../schemas/limits.ts";
import { kindOf, standing } from "../domain/invites.ts";
import { checkFullName, codePoints, isEmailAddress } from "../domain/text.ts";
import type { HttpReply } from "../runtime/calls.ts";
import { hashApiKey } from "./authentication.ts";
import { type JoinField, joinedPage, joinFormPage } from "./join-pages.ts";
import { errorPage, type PageRequest, type PageRoute, redirectPage } from "./pages.ts";
import type { VerifiedLogin } from "./password-login.ts";
import type { Passwords } from "./passwords.ts";
import type { RateLimits } from "./rate-limits.ts";
import { messagePage, tooManyPage } from "./small-pages.ts";
import { startSession } from "./start-session.ts";
import type { WebPage } from "./web-pages.ts";

const prefix = "/join/";

export function joinLink(site: string, key: string): string {
  return `${site}${prefix}${key}/`;
}

export interface JoinTools {
  readonly passwords: Passwords;
  readonly rates: RateLimits;
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
  const invitation = invitationOf(request);
  if (invitation === undefined) return endedPage("unknown");
  if (request.method === "POST") return submit(request, invitation, { ...tools, address });
  const state = standing(request.realm.view, invitation);
  return state === "valid" ? form(request, invitation, noEntries, null) : endedPage(state);
}

/** With and without a trailing slash. */
function invitationOf({ realm, rest }: PageRequest): InvitationRecord | undefined {
  const key = realm.view.row("invitationKeys", hashApiKey(rest.replace(/\/$/, "")));
  return key === undefined ? undefined : realm.view.row("invitations", key.id);
}

function endedPage(state: keyof typeof ends): HttpReply {
  return messagePage(404, { title: "This link is not valid", text: ends[state], link: { to: "/", text: "Log in" } });
}

interface Entries {
  readonly fullName: string;
  readonly email: string;
}

const noEntries: Entries = { fullName: "", email: "" };

interface Problem {
  readonly field: JoinField;
  readonly text: string;
}

/** With a problem: shows the form again with the entered values, except the password. */
function form(
  { realm }: PageRequest,
  invitation: InvitationRecord,
  entries: Entries,
  problem: Problem | null,
): HttpReply {
  const { view } = realm;
  return joinFormPage(problem === null ? 200 : 400, {
    ...entries,
    realmName: view.realm.name,
    inviterName: view.users.get(invitation.inviterId)?.fullName ?? "",
    fixedEmail: invitation.email,
    problem,
  });
}

interface Submission extends JoinTools {
  readonly address: string;
}

async function submit(request: PageRequest, invitation: InvitationRecord, tools: Submission): Promise<HttpReply> {
  const { realm } = request;
  const sent = request.form();
  if ("kind" in sent) return messagePage(400, { title: "This form cannot be read", text: "Go back and try again." });
  const text = (name: string) => sent.values.get(name) ?? "";
  const email = kindOf(invitation) === "mail" ? invitation.email : text("email").trim();
  const entries = { fullName: text("full_name").trim(), email };
  const password = text("password");
  const state = standing(realm.view, invitation);
  const problem = problemOf(entries, password);
  if (state === "valid" && problem !== null) return form(request, invitation, entries, problem);
  if (state === "expired" || state === "revoked") return endedPage(state);

  // Counted before the slow hash, or many concurrent attempts would all pass; successful attempts are not counted.
  const attempt = tools.rates.take("login", tools.address);
  if (attempt !== null && attempt.retryAfterS > 0) return tooManyPage(attempt.retryAfterS);
  const page = state === "used" ? null : await join(request, invitation, { ...entries, password }, tools);
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
  return form(request, invitation, entries, {
    field: "email",
    text: "This address has an account already. Log in with it, or use another one.",
  });
}

/** The rules of POST /users, in plain words. */
function problemOf({ fullName, email }: Entries, password: string): Problem | null {
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
  invitation: InvitationRecord,
  { fullName, email, password }: Entries & { readonly password: string },
  tools: Submission,
): Promise<HttpReply | null> {
  const { realm } = request;
  if (realm.view.users.byEmail(email) !== undefined) return null;
  const passwordHash = await tools.passwords.hash(password);
  if (passwordHash === null) return unavailable();
  const to = { actor: "invitation", id: invitation.id } as const;
  const joined = await realm.dispatcher.ask(command(to, "invitation.accept", { email, fullName, passwordHash }, null));
  const user = realm.view.users.byEmail(email);
  if (joined.kind === "ok" && user !== undefined) return welcome(request, { user, passwordHash }, tools);
  if (joined.kind === "ok" || user !== undefined) return null;
  return refusedPage(request, invitation, { fullName, email }, joined);
}

function refusedPage(
  request: PageRequest,
  invitation: InvitationRecord,
  entries: Entries,
  refused: Refusal,
): HttpReply | null {
  if (refused.code === "NOT_FOUND") {
    const row = request.realm.view.row("invitations", invitation.id);
    const state = row === undefined ? "unknown" : standing(request.realm.view, row);
    return endedPage(state === "valid" ? "unknown" : state);
  }
  if (refused.code !== "BAD_REQUEST") return unavailable();
  const isName = refused.msg.startsWith("Unique names");
  const problem: Problem = isName
    ? { field: "full_name", text: "Another user already has this name. Choose a different one." }
    : { field: "form", text: refused.msg };
  return form(request, invitation, entries, problem);
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

/** Logs the user in (D256). A browser that says so goes on in the page; others get what a client needs to log in. */
async function welcome(request: PageRequest, login: VerifiedLogin, tools: Submission): Promise<HttpReply> {
  const { realm, siteUrl, userAgent } = request;
  const started = await startSession(realm, login, { siteUrl, userAgent, address: tools.address });
  if (started.kind === "ok" && tools.webPage !== null && request.fetchSite === "same-origin") {
    const page = redirectPage("/");
    return { ...page, headers: [...page.headers, ...(started.headers ?? [])] };
  }
  const page = joinedPage({ realmName: realm.view.realm.name, email: login.user.email, site: siteUrl });
  return started.kind === "ok" ? { ...page, headers: [...page.headers, ...(started.headers ?? [])] } : page;
}
