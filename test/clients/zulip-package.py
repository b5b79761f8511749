"""A program as users of the PyPI package `zulip` write it: one call after another, then every event, one line of JSON each."""

import io
import json
import sys

import zulip

client = zulip.Client(config_file=sys.argv[1], client="Example/1.0")
other_id = int(sys.argv[2])
other_email = sys.argv[3]


def tell(what, value):
    print(json.dumps({"what": what, "value": value}), flush=True)
    return value


def named(name, content):
    file = io.BytesIO(content)
    file.name = name
    return file


def call(method, /, *args, **kwargs):
    return tell(method, getattr(client, method)(*args, **kwargs))


me = call("get_profile")["user_id"]
call("get_server_settings")
call("add_subscriptions", streams=[{"name": "by python", "description": "made by a program"}])
call("add_subscriptions", streams=[{"name": "by python"}], principals=[other_id])
stream_id = call("get_stream_id", "by python")["stream_id"]
call("get_streams", include_public=True)
call("get_subscriptions")
call("get_subscription_status", me, stream_id)
call("get_subscribers", stream="by python")
call("update_subscription_settings", [{"stream_id": stream_id, "property": "color", "value": "#f00f00"}])
call("update_stream", {"stream_id": stream_id, "description": "changed by a program", "is_private": False})
call("add_default_stream", stream_id)

sent = call("send_message", {"type": "stream", "to": "by python", "topic": "hello", "content": "from **Python**"})
call("send_message", {"type": "private", "to": [other_email], "content": "by address"})
call("send_message", {"type": "direct", "to": [other_id], "content": "by id"})
narrow = [{"operator": "channel", "operand": "by python"}, {"operator": "topic", "operand": "hello"}]
call("get_messages", {"anchor": "newest", "num_before": 10, "num_after": 0, "narrow": narrow})
call("get_raw_message", sent["id"])
call("check_messages_match_narrow", msg_ids=[sent["id"]], narrow=narrow)
call("update_message", {"message_id": sent["id"], "content": "from **Python**, changed"})
call("get_message_history", sent["id"])
call("render_message", {"content": "**bold**"})
call("add_reaction", {"message_id": sent["id"], "emoji_name": "octopus"})
call("remove_reaction", {"message_id": sent["id"], "emoji_name": "octopus"})
call("update_message_flags", {"messages": [sent["id"]], "op": "add", "flag": "starred"})
call("mark_stream_as_read", stream_id)
call("mark_topic_as_read", stream_id, "hello")
call("mark_all_as_read")
call("get_stream_topics", stream_id)
call("mute_topic", {"stream": "by python", "topic": "hello", "op": "add"})
call("mute_topic", {"stream": "by python", "topic": "hello", "op": "remove"})
uploaded = call("upload_file", named("note.txt", b"uploaded by a program"))
call("send_message", {"type": "stream", "to": "by python", "topic": "hello", "content": f"[note]({uploaded['uri']})"})
call("get_attachments")
gone = call("send_message", {"type": "stream", "to": "by python", "topic": "hello", "content": "to be deleted"})
call("delete_message", gone["id"])

call("set_typing_status", {"op": "start", "to": [other_id]})
call("set_typing_status", {"op": "stop", "to": [other_id]})
call("update_presence", {"status": "active", "ping_only": False, "new_user_input": True})
call("get_user_presence", other_email)
call("get_realm_presence")
call("get_members")
call("get_users", {"include_custom_profile_fields": True})
call("get_user_by_id", other_id)
made = call("create_user", {"email": "made@example.com", "password": "a long password", "full_name": "Made Here"})
call("update_user_by_id", made["user_id"], full_name="Made There")
call("deactivate_user_by_id", made["user_id"])
call("reactivate_user_by_id", made["user_id"])
call("add_alert_words", ["python"])
call("get_alert_words")
call("remove_alert_words", ["python"])
call("update_notification_settings", {"enable_desktop_notifications": True})

call("create_user_group", {"name": "pythonists", "description": "made", "members": [me]})
group = call("get_user_groups")["user_groups"][-1]
call("update_user_group", {"group_id": group["id"], "name": "snakes", "description": "changed"})
call("update_user_group_members", group["id"], {"add": [other_id], "delete": [me]})
call("get_realm_emoji")
call("get_realm_linkifiers")
linkifier = call("add_realm_filter", "#(?P<id>[0-9]+)", "https://example.com/{id}")
call("remove_realm_filter", linkifier["id"])
field = call("create_realm_profile_field", name="Phone", hint="of the desk", field_type=1)
call("get_realm_profile_fields")
call("update_realm_profile_field", field["id"], name="Desk phone")
call("reorder_realm_profile_fields", order=[field["id"]])
call("remove_realm_profile_field", field["id"])

call("move_topic", "by python", "by python", "hello", "moved")
queue = call("register", ["message"])
tell("get_events", client.get_events(queue_id=queue["queue_id"], last_event_id=queue["last_event_id"], dont_block=True))
call("deregister", queue["queue_id"])
call("remove_subscriptions", ["by python"], principals=[other_email])
call("delete_stream", stream_id)
tell("end", None)

client.call_on_each_event(lambda event: tell("event", event), ["message", "typing"])
