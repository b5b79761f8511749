// XMPP over WebSocket (RFC 7395), as much as a load test needs: one stanza per frame, login by SASL PLAIN, then joining
// a group chat (XEP-0045). The sender is in the room, too: its own message, reflected after it has been archived, is
// the response.

import type { Dialect, LoginStep } from "./dialect.ts";

/** The credentials; the socket's number makes the nickname unique. */
export interface XmppLogin {
  readonly host: string;
  readonly user: string;
  readonly password: string;
  /** Address of the room; see `roomOf`. */
  readonly room: string;
  readonly nick: string;
}

const INDEX_DIGITS = 5;

/** The socket's number in nicknames and ids, of fixed width so that none is a prefix of another. */
export function numbered(name: string, index: number): string {
  return `${name}-${String(index).padStart(INDEX_DIGITS, "0")}`;
}

/** The frame that posts a message to the room, as a cycle of one request. ASCII text without markup. */
export function xmppPost(room: string, index: number, text: string): string {
  return `<message xmlns="jabber:client" to="${room}" type="groupchat" id="${numbered("post", index)}"><body>${text}</body></message>`;
}

const NOTHING: LoginStep = { kind: "nothing" };
const say = (text: string): LoginStep => ({ kind: "say", text });

/** Replies to the server's frames, selected by what a frame contains, in this order. */
const steps: readonly {
  readonly on: RegExp;
  readonly answer: (login: XmppLogin, index: number, frame: string) => LoginStep;
}[] = [
  { on: /^<(?:failure|stream:error|close)|^<(?:presence|iq)[^>]* type=["']error/, answer: refuse },
  { on: /<mechanism>PLAIN</, answer: authenticate },
  { on: /^<success/, answer: (login) => say(open(login)) },
  { on: /^<stream:features[\s\S]*<bind/, answer: () => say(BIND) },
  { on: /^<iq[^>]* id=["']bind/, answer: join },
  { on: /^<presence[\s\S]* code=["']110/, answer: () => ({ kind: "ready", queueId: null }) },
];

const BIND = '<iq xmlns="jabber:client" type="set" id="bind"><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"/></iq>';

export const xmpp: Dialect = {
  usesHeader: false,
  subprotocol: "xmpp",
  firstFrame: ({ authorization }) => open(parse(authorization)),
  onLoginFrame: (text, { authorization, index }) =>
    steps.find(({ on }) => on.test(text))?.answer(parse(authorization), index, text) ?? NOTHING,
  aliveAnswer: () => null,
  postAnswer: (bytes, from, to, { index }) => {
    const text = bytes.toString("latin1", from, to);
    if (!text.startsWith("<message") || !text.includes(numbered("post", index))) return null;
    const isError = /^<message[^>]* type=["']error/.test(text);
    return { status: isError ? 400 : 200, bodyBytes: to - from, failureBody: isError ? text : "" };
  },
};

function parse(authorization: string): XmppLogin {
  return JSON.parse(authorization) as XmppLogin;
}

function open({ host }: XmppLogin): string {
  return `<open xmlns="urn:ietf:params:xml:ns:xmpp-framing" to="${host}" version="1.0"/>`;
}

function authenticate({ user, password }: XmppLogin): LoginStep {
  const secret = Buffer.from(`\0${user}\0${password}`, "utf8").toString("base64");
  return say(`<auth xmlns="urn:ietf:params:xml:ns:xmpp-sasl" mechanism="PLAIN">${secret}</auth>`);
}

function join({ room, nick }: XmppLogin, index: number): LoginStep {
  const history = '<x xmlns="http://jabber.org/protocol/muc"><history maxstanzas="0"/></x>';
  // The process id is part of the name, so that replies to a session of the previous run, which may still be leaving,
  // cannot be mistaken for this session's.
  const occupant = `${roomOf(room, index)}/${numbered(nick, index)}-${process.pid}`;
  return say(`<presence xmlns="jabber:client" to="${occupant}">${history}</presence>`);
}

/** `*` in a room's address is replaced by the socket's number, which gives each socket its own room. */
export function roomOf(room: string, index: number): string {
  return room.replace("*", String(index));
}

function refuse(_login: XmppLogin, _index: number, frame: string): LoginStep {
  throw new Error(`the server rejected the login: ${frame.slice(0, 300)}`);
}
