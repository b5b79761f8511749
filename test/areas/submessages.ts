/** Submessages in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { noteToSelf } from "./make.ts";

export const submessagesCases = defineCases({
  audiences: {
    accounts: ["add-submessage"],
  },
  fuzz: {
    things: ["poll"],
    makes: { poll: (client) => noteToSelf(client, "/poll\na\nb") },
    meanings: {
      "add-submessage message_id": "poll",
    },
  },
  draws: {
    "submessage.add": (world) => {
      const id = world.message();
      const sender = world.replica.get("messages", id)?.senderId;
      const input = { msgType: "widget", content: world.random.pick(['{"type":"vote","key":"a,1","vote":1}', "[]"]) };
      const callerId = sender === undefined || world.random.chance(0.3) ? world.user() : sender;
      return command({ actor: "message", id }, "submessage.add", input, callerId);
    },
  },
});
