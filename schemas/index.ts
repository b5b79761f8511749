/** All operations of the server: one list for the router, the API documents, and the fuzz and differential tests. */
import { namedAreas } from "./areas.ts";
import type { Endpoint } from "./endpoint.ts";
import { getEvents, registerQueue } from "./register.ts";

/** The operations with the names of their areas. All areas contribute to the last two, so none can declare them. */
export const endpointsByArea: readonly (readonly [area: string, endpoint: Endpoint])[] = [
  ...namedAreas.flatMap(([name, area]) =>
    "endpoints" in area ? area.endpoints.map((endpoint: Endpoint) => [name, endpoint] as const) : [],
  ),
  ["queues", registerQueue],
  ["queues", getEvents],
];

export const endpoints: readonly Endpoint[] = endpointsByArea.map(([, endpoint]) => endpoint);
