/** Server in the tests that cover every area. */
import { defineCases } from "./area.ts";

export const serverCases = defineCases({
  audiences: {
    everybody: ["get-server-settings"],
  },
});
