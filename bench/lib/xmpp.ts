// XMPP over WebSocket (RFC 7395), as far as a load test speaks it: a stanza to a frame, log-in by SASL PLAIN, then the way into a group chat
// (XEP-0045). Who posts is in the room, too: its own message, reflected after it is in the archive, is the answer.

import type { Dialect, Heard } from "./dialect.ts";

/** What goes as credentials; the nickname is made unique by the number of the socket. */
export interface XmppLogin {
  readonly host: string;
  readonly user: string;
  readonly password: string;
  /** Address of the room; see `roomOf`. */
  readonly room: string;
  readonly nick: string;
}

const INDEX_DIGITS = 5;

/** The number of a socket as it stands in nicknames and ids, of one width so that none begins another. */
export function numbered(name: string, index: number): string {
  return `${name}-${String(index).padStart(INDEX_DIGITS, "0")}`;
}

/** A message to the room, as the only one of a cycle. ASCII text without markup. */
export function xmppPost(room: string, index: number, text: string): string {
  return `<message xmlns="jabber:client" to="${room}" type="groupchat" id="${numbered("post", index)}"><body>${text}</body></message>`;
}

const NOTHING: Heard = { kind: "nothing" };
const say = (text: string): Heard => ({ kind: "say", text });

/** What follows on what the server says, by what is in its frame, in this order. */
const steps: readonly {
  readonly on: RegExp;
  readonly answer: (login: XmppLogin, index: number, frame: string) => Heard;
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
  greet: ({ authorization }) => open(parse(authorization)),
  hear: (text, { authorization, index }) =>
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

function authenticate({ user, password }: XmppLogin): Heard {
  const secret = Buffer.from(`\0${user}\0${password}`, "utf8").toString("base64");
  return say(`<auth xmlns="urn:ietf:params:xml:ns:xmpp-sasl" mechanism="PLAIN">${secret}</auth>`);
}

function join({ room, nick }: XmppLogin, index: number): Heard {
  const history = '<x xmlns="http://jabber.org/protocol/muc"><history maxstanzas="0"/></x>';
  // The process is part of the name: a session of the run before may still be leaving, and would get the answer in place of this one.
  const occupant = `${roomOf(room, index)}/${numbered(nick, index)}-${process.pid}`;
  return say(`<presence xmlns="jabber:client" to="${occupant}">${history}</presence>`);
}

/** `*` in a room's address stands for the number of the socket: then each has a room of its own. */
export function roomOf(room: string, index: number): string {
  return room.replace("*", String(index));
}

function refuse(_login: XmppLogin, _index: number, frame: string): Heard {
  throw new Error(`the server refused: ${frame.slice(0, 300)}`);
}
