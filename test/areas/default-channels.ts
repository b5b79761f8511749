/** Default channels in the tests that cover every area. */
import { defineCases } from "./area.ts";

export const defaultChannelsCases = defineCases({
  audiences: {
    administrators: ["add-default-stream", "remove-default-stream"],
  },
  draws: {
    "default-channels.set": null,
  },
  state: { default_streams: ["realm_default_streams"] },
});
