/**
 * Runs the contract of transports with Node's own modules and `ws`. node-only.test.ts tests what only this transport
 * does.
 */
import t from "tap";
import { nodeTransport } from "../../src/edge/transport/node.ts";
import { holds } from "./app.ts";
import { httpContract } from "./http-contract.ts";
import { patienceContract } from "./patience-contract.ts";
import { socketContract, tlsContract } from "./socket-contract.ts";

holds(t, nodeTransport, httpContract, socketContract, tlsContract, patienceContract);
