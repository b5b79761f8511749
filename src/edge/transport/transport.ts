/**
 * The interface through which the server uses HTTP and WebSocket. Two transports implement it: uWebSockets.js
 * (`native.ts`) and Node's own modules with `ws` (`node.ts`). It has the shapes of uWebSockets.js, so that the native
 * transport needs no wrapper per request. docs/transport.md lists the differences.
 */

export type TransportKind = "native" | "node";

export interface Transport {
  readonly kind: TransportKind;
  /** @returns null when the key or the certificate cannot be used */
  createApp(options: AppOptions): WebApp | null;
}

export interface TlsOptions {
  readonly keyFile: string;
  readonly certFile: string;
}

/** The names for which the new certificate counts, or why the former one stays. */
export type RenewedCertificate = { readonly names: readonly string[] } | { readonly fault: string };

export interface AppOptions {
  readonly tls: TlsOptions | null;
  /**
   * JSON body of the 400 that the transport itself returns for bytes that are not a request. uWebSockets.js has its
   * own.
   */
  readonly malformedBody: string;
  /** Real time: connections time out by the machine's clock, whatever clock the realms use. */
  readonly timers: Timers;
  /** Asked for each new connection, which is closed at once if the answer is false. Absent: every one is accepted. */
  readonly admits?: () => boolean;
}

export interface Timers {
  /** Milliseconds that only grow. */
  monotonic(): number;
  /** @returns a function that cancels the timer */
  after(milliseconds: number, callback: () => void): () => void;
}

export interface WebApp {
  /** Whether malformed chunks are rejected. If not, nothing after a chunked body on the connection can be trusted. */
  readonly checksChunks: boolean;
  /** Handles every request that no socket route matches. */
  onRequest(handler: RequestHandler): void;
  /** A path whose GET is an upgrade to a WebSocket. */
  onSocket<Data extends object>(path: string, route: SocketRoute<Data>): void;
  /** @returns the port, which differs from the requested one if that is 0; null if the server cannot listen there */
  listen(host: string, port: number): Promise<number | null>;
  /** New connections get the certificate that the files have now; open ones go on. Only of an app that speaks TLS. */
  renewCertificate(tls: TlsOptions): RenewedCertificate;
  /**
   * Rejects new connections and keeps open ones.
   * @returns resolves when requests are answered that the app answers itself, if it does so at all
   */
  stopListening(): Promise<void> | void;
  /** Closes every connection. */
  close(): void;
}

/** The handler must call `onAborted` before it returns, and before anything that can throw. */
export type RequestHandler = (response: TransportResponse, request: TransportRequest) => void;

/** Valid until the handler returns; copy everything that is needed later. */
export interface TransportRequest {
  /** In upper or lower case. */
  getMethod(): string;
  /** Percent-encoded, without the query. */
  getUrl(): string;
  /** undefined or "" without a query. */
  getQuery(): string | undefined;
  /** The first header of that name, which is in lower case; "" when it is absent. */
  getHeader(name: string): string;
  /** Visits every header in the order of arrival; names are in lower case. */
  forEach(visit: (name: string, value: string) => void): void;
}

/** After an abort or its end no method of a response may be called. */
export interface TransportResponse {
  /** Called once if the connection ends before the answer is complete; if `close` caused that, during its call. */
  onAborted(handler: () => void): unknown;
  /** Must be called before the handler returns. A chunk is valid until the callback returns. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  /** Stops chunks until `resume`. */
  pause(): unknown;
  resume(): unknown;
  /** Status and headers must precede the body. The default status is 200; `end` and `tryEnd` add Content-Length. */
  writeStatus(status: string): unknown;
  /** A value may continue with the lines of further headers: `1\r\nB: 2` under `A` sends `A: 1` and `B: 2`. */
  writeHeader(name: string, value: string): unknown;
  /** Everything that `work` writes is sent together. */
  cork(work: () => void): unknown;
  /**
   * The bytes of the body may change after the call.
   * @param closesConnection closes the connection after the answer, without reading further requests on it
   */
  end(body: string | Buffer, closesConnection: boolean): unknown;
  endWithoutBody(): unknown;
  /**
   * Offers a piece of a body of `size` bytes, which may change after the call. The transport keeps at most one piece; the caller offers the rest again
   * from `getWriteOffset()` on, when `onWritable` calls or later. An empty piece at the end asks whether the client has
   * taken everything.
   * @returns whether more may be offered at once, and whether the answer is complete
   */
  tryEnd(chunk: string | Buffer, size: number): [isTaken: boolean, isDone: boolean];
  /** Number of bytes of the body that the client has taken. */
  getWriteOffset(): number;
  /** @param handler gets the offset, and returns whether its piece was taken */
  onWritable(handler: (offset: number) => boolean): unknown;
  /** Closes the connection at once. */
  close(): unknown;
  /** Dotted, or all eight groups of four digits. Valid while the response is. */
  getRemoteAddressAsText(): ArrayBuffer;
}

/** The answer to a handshake that is not accepted. */
export type HandshakeResponse = Pick<
  TransportResponse,
  "onAborted" | "writeStatus" | "writeHeader" | "cork" | "end" | "close" | "getRemoteAddressAsText"
>;

/** The result of `send`. */
export const sendStatus = { buffered: 0, sent: 1, dropped: 2 } as const;

/** The part of a socket that a session uses. After the close none of it may be called. */
export interface SocketConnection {
  /** @returns one of `sendStatus` */
  send(data: string | Buffer, isBinary: boolean): number;
  /** A message in fragments; no other message may be sent between them. */
  sendFirstFragment(data: Buffer, isBinary: boolean): number;
  sendFragment(data: Buffer): number;
  sendLastFragment(data: Buffer): number;
  /** Number of bytes that the kernel has not taken yet. */
  getBufferedAmount(): number;
  /** Sends a close frame and ends the connection; calls the route's `closed` before it returns. */
  end(code: number, reason: string): void;
}

export interface TransportSocket<Data> extends SocketConnection {
  /** The fields that the upgrade set; they may be changed. It need not be the same object. */
  getUserData(): Data;
}

export interface SocketRoute<Data extends object> {
  /** A larger message closes the socket. */
  readonly messageBytesMax: number;
  /** A socket with more unsent bytes drops further messages and is closed. */
  readonly bufferBytesMax: number;
  /** Seconds of silence after which a client is pinged; it is disconnected if it stays silent (`silenceMarginS`). */
  readonly heartbeatS: number;
  /**
   * @param accept completes the upgrade instead of an answer, also later, unless the response was aborted. The protocol
   *   may be ""
   */
  upgrade(response: HandshakeResponse, request: TransportRequest, accept: (data: Data, protocol: string) => void): void;
  /** Handles a GET of the path that is not a valid upgrade. */
  plain(response: TransportResponse, request: TransportRequest): void;
  open(socket: TransportSocket<Data>): void;
  /** @param message valid until the handler returns */
  message(socket: TransportSocket<Data>, message: Uint8Array, isBinary: boolean): void;
  /** The client has read some of the buffered bytes. */
  drained(socket: TransportSocket<Data>): void;
  /** Called once. */
  closed(socket: TransportSocket<Data>): void;
}

/**
 * Seconds that a client has to answer a ping. uWebSockets.js derives them from the heartbeat, and Node's transport uses
 * the same.
 */
export function silenceMarginS(heartbeatS: number): number {
  return heartbeatS >= 16 ? 16 : heartbeatS >= 8 ? 8 : 4;
}
