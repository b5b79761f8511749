/** Push devices in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { self } from "./draws.ts";

export const pushDevicesCases = defineCases({
  audiences: {
    humans: [
      "add-apns-token",
      "remove-apns-token",
      "add-fcm-token",
      "remove-fcm-token",
      "test-notify",
      "e2ee-test-notify",
      "register-push-device",
      "register-client-device",
      "remove-client-device",
    ],
  },
  draws: {
    "push-token.add": (world) => {
      const id = world.user();
      const token = world.oneOfFew();
      const params = { name: `fcm:${token}`, kind: "fcm" as const, token, appId: null };
      return command(self(id), "push-token.add", params, id);
    },
    "push-token.remove": (world) => {
      const [id, name] = world.row("pushTokens")?.key ?? [world.user(), `fcm:${world.oneOfFew()}`];
      return command(self(id), "push-token.remove", { name }, id);
    },
    "device.register": (world) => {
      const id = world.user();
      return command(self(id), "device.register", {}, id);
    },
    "device.remove": (world) => {
      const { userId, id } = world.own("devices");
      return command(self(userId), "device.remove", { id }, userId);
    },
  },
  ofPeople: ["push-token.add", "push-token.remove", "device.register", "device.remove"],
});
