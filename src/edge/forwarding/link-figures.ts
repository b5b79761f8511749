/** The traffic of a node's links, for metrics. */

/** A link as it is now. */
export interface LinkState {
  readonly sockets: number;
  /** The bytes that wait to be sent over it. */
  readonly waitingBytes: number;
  /** Since the other node was heard. */
  readonly silentMs: number;
}

interface EndFigures {
  readonly links: number;
  readonly sockets: number;
  readonly waitingBytes: number;
}

export interface LinkFigures {
  /** Links to owners, and those of edges to this node. */
  readonly ends: Readonly<Record<"edge" | "owner", EndFigures>>;
  readonly sentMessages: number;
  readonly sentBytes: number;
  readonly receivedMessages: number;
  readonly receivedBytes: number;
  /** Links to owners that broke. */
  readonly lost: number;
  /** The longest time that a link has been silent. */
  readonly silenceS: number;
  /** Requests of clients that other nodes answer. */
  readonly requests: number;
}

/** Both ends of all links of a node count here. */
export class LinkCounts {
  sentMessages = 0;
  sentBytes = 0;
  receivedMessages = 0;
  receivedBytes = 0;
  lost = 0;

  sent(bytes: number): void {
    this.sentMessages++;
    this.sentBytes += bytes;
  }

  received(bytes: number): void {
    this.receivedMessages++;
    this.receivedBytes += bytes;
  }
}

export interface FiguresParts {
  readonly edge: readonly LinkState[];
  readonly owner: readonly LinkState[];
  readonly requests: number;
}

export function linkFigures(counts: LinkCounts, { edge, owner, requests }: FiguresParts): LinkFigures {
  const { sentMessages, sentBytes, receivedMessages, receivedBytes, lost } = counts;
  const silentMs = [...edge, ...owner].reduce((longest, state) => Math.max(longest, state.silentMs), 0);
  const ends = { edge: sumOf(edge), owner: sumOf(owner) };
  return {
    ends,
    sentMessages,
    sentBytes,
    receivedMessages,
    receivedBytes,
    lost,
    silenceS: silentMs / 1000,
    requests,
  };
}

function sumOf(states: readonly LinkState[]): EndFigures {
  const sum = (of: (state: LinkState) => number) => states.reduce((total, state) => total + of(state), 0);
  return {
    links: states.length,
    sockets: sum(({ sockets }) => sockets),
    waitingBytes: sum(({ waitingBytes }) => waitingBytes),
  };
}
