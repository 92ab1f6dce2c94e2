"""Removes a member of a team and lists a person's tasks over gRPC; prints each step as a line of JSON."""

import json
import os

import grpc
import stubs  # noqa: F401  before the packages that it makes importable
from dataexport.v1.export_service_pb2 import ListTasksRequest
from dataexport.v1.export_service_pb2_grpc import EnterpriseDataExportServiceStub
from google.protobuf.json_format import MessageToDict
from team.v2.team_user_service_pb2 import RemoveMemberRequest
from team.v2.team_user_service_pb2_grpc import TeamUserManagementApiV2ServiceStub

DEADLINE = 20
MEMBER, OWNER, MANAGER, READER = (os.environ[name] for name in ("MEMBER", "OWNER", "MANAGER", "READER"))


def record(step, **facts):
    print(json.dumps({"step": step, **facts}), flush=True)


def refused(what, call):
    try:
        call()
        raise AssertionError(f"{what} was not refused")
    except grpc.RpcError as error:
        record("refused", what=what, code=error.code().name)


with grpc.insecure_channel(os.environ["ADDRESS"]) as channel:
    users = TeamUserManagementApiV2ServiceStub(channel)
    exports = EnterpriseDataExportServiceStub(channel)

    def remove(team_user_id, key):
        request = RemoveMemberRequest(team_user_id=team_user_id)
        return users.RemoveMember(request, metadata=(("x-api-key", key),), timeout=DEADLINE)

    def tasks(key, user="lea@corp.test", page=1, **options):
        request = ListTasksRequest(user=user, page=page, page_size=10, **options)
        return exports.ListTasks(request, metadata=(("x-api-key", key),) if key else (), timeout=DEADLINE)

    record("removed", answer=MessageToDict(remove(MEMBER, MANAGER)))
    record("listed", answer=MessageToDict(tasks(READER)))
    record("listed with deleted ones", answer=MessageToDict(tasks(READER, include_deleted=True)))
    refused("a second removal", lambda: remove(MEMBER, MANAGER))
    refused("the owner's removal", lambda: remove(OWNER, MANAGER))
    refused("a removal with a key for exports", lambda: remove("lea", READER))
    refused("a list with a key for members", lambda: tasks(MANAGER))
    refused("a list without a key", lambda: tasks(None))
    refused("a list of an unknown user's tasks", lambda: tasks(READER, user="nobody@corp.test"))
    refused("a list without a page", lambda: tasks(READER, page=0))
