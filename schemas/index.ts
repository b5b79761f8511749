/** All operations of the server: one list for the router, the reference, and the fuzz and differential tests. */
import { areas } from "./areas.ts";
import type { Endpoint } from "./endpoint.ts";
import { getEvents, registerQueue } from "./register.ts";

export const endpoints: readonly Endpoint[] = [
  ...areas.flatMap((area) => ("endpoints" in area ? [...area.endpoints] : [])),
  registerQueue,
  getEvents,
];
