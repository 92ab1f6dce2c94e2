"""Runs one task from its creation to its end; prints each action and event as a line of JSON."""

import json
import os

import grpc
import stubs  # noqa: F401  before the packages that it makes importable
from google.protobuf.json_format import MessageToDict
from task.v2 import message_pb2, task_event_pb2, task_pb2, task_service_pb2
from task.v2.task_service_pb2_grpc import TaskServiceStub

DEADLINE = 20
DIRECTIVES = "[[say Hello]] [[ask Colour? | red | blue]] [[confirm terminalExecute]] [[forever]]"


def record(step, **facts):
    print(json.dumps({"step": step, **facts}), flush=True)


def message_of(text):
    part = message_pb2.ContentPart(type=message_pb2.CONTENT_PART_TYPE_TEXT, text=text)
    return message_pb2.Message(content=[part])


def status_of(event):
    return event.status_update.agent_status if event.WhichOneof("payload") == "status_update" else None


class Account:
    """The task service with the key of an account."""

    def __init__(self, channel, key):
        self.stub = TaskServiceStub(channel)
        self.metadata = (("x-service-api-key", key),)

    def __getattr__(self, name):
        method = getattr(self.stub, name)

        def call(request, timeout=DEADLINE):
            return method(request, metadata=self.metadata, timeout=timeout)

        return call


def answer_question(account, task_id):
    """Watches across the turn's end; leaves where the task waits for an approval."""
    watch = account.WatchTask(task_service_pb2.WatchTaskRequest(task_id=task_id))
    for answer in watch:
        event = answer.event
        record("event", event=MessageToDict(event))
        if status_of(event) != task_pb2.TASK_STATUS_WAITING:
            continue
        detail = event.status_update.status_detail
        if detail.waiting_for_event_type == "terminalExecute":
            watch.cancel()
            record("left")
            return detail.waiting_for_event_id, event.seq
        account.SendMessage(task_service_pb2.SendMessageRequest(task_id=task_id, message=message_of("red")))
        record("answered")


def confirm(account, task_id, event_id):
    request = task_service_pb2.ConfirmActionRequest(task_id=task_id, event_id=event_id)
    request.input.update({"accept": True})
    record("confirmed", confirmed=account.ConfirmAction(request).confirmed)


def stop_when_running(account, task_id, after_seq):
    """Takes the watch up again behind what was seen; it ends by itself once the task has stopped."""
    request = task_service_pb2.WatchTaskRequest(task_id=task_id, after_seq=after_seq, until_settled=True)
    for answer in account.WatchTask(request):
        record("event", event=MessageToDict(answer.event))
        if status_of(answer.event) == task_pb2.TASK_STATUS_RUNNING:
            account.StopTask(task_service_pb2.StopTaskRequest(task_id=task_id))
            record("stopped")
    record("ended")


def read(account, task_id):
    request = task_service_pb2.ListMessagesRequest(task_id=task_id, verbose=True, order=task_pb2.SORT_ORDER_ASC)
    messages = [MessageToDict(event) for event in account.ListMessages(request).messages]
    detail = account.GetTask(task_service_pb2.GetTaskRequest(task_id=task_id))
    status = task_pb2.TaskStatus.Name(detail.task.status)
    record("settled", messages=messages, status=status, lastSeq=detail.last_seq)


def refused(what, call):
    try:
        call()
        raise AssertionError(f"{what} was not refused")
    except grpc.RpcError as error:
        request_id = dict(error.trailing_metadata()).get("x-request-id")
        record("refused", what=what, code=error.code().name, message=error.details(), requestId=request_id)


def provoke_refusals(account, unauthenticated, task_id):
    known = task_service_pb2.GetTaskRequest(task_id=task_id)
    watch = task_service_pb2.WatchTaskRequest(task_id=task_id)
    far = task_service_pb2.ListMessagesRequest(task_id=task_id, limit=201)
    refused("a bad key", lambda: unauthenticated.GetTask(known))
    refused("a watch with a bad key", lambda: list(unauthenticated.WatchTask(watch)))
    refused("an unknown task", lambda: account.GetTask(task_service_pb2.GetTaskRequest(task_id="nobody")))
    refused("a watch of an unknown task", lambda: list(account.WatchTask(task_service_pb2.WatchTaskRequest(task_id="nobody"))))
    refused("a limit out of range", lambda: account.ListMessages(far))
    refused("an order that is none", lambda: account.ListTasks(task_service_pb2.ListTasksRequest(order=99)))


def exceed_deadline(account, task_id):
    """A watch of a task that rests stays open for the next turn."""
    try:
        for _ in account.WatchTask(task_service_pb2.WatchTaskRequest(task_id=task_id), timeout=0.3):
            pass
    except grpc.RpcError as error:
        record("late", code=error.code().name)


with grpc.insecure_channel(os.environ["ADDRESS"]) as channel:
    account = Account(channel, os.environ["KEY"])
    created = account.CreateTask(task_service_pb2.CreateTaskRequest(message=message_of(DIRECTIVES)))
    record("created", taskId=created.task_id)
    event_id, seq = answer_question(account, created.task_id)
    confirm(account, created.task_id, event_id)
    stop_when_running(account, created.task_id, seq)
    read(account, created.task_id)
    provoke_refusals(account, Account(channel, "sk-nobody"), created.task_id)
    exceed_deadline(account, created.task_id)
