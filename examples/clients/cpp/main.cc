// A task from its creation to its end over gRPC: its file, its live text, a question, an approval, refusals and time limits.
#include <curl/curl.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "atp/file/v2/file_service.grpc.pb.h"
#include "atp/task/v2/task_service.grpc.pb.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace fv2 = file::v2;
namespace tv2 = task::v2;

// What the offline agent does: docs/guides/offline-agent.md.
const char kDirectives[] =
    "[[stream One word after the other]] [[ask Colour? | red | blue]] [[confirm terminalExecute]] "
    "[[file result.txt | The house is red.]]";

// The context of one call: the key, and a time limit.
class Call : public grpc::ClientContext {
 public:
  explicit Call(const std::string& key, std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    AddMetadata("x-service-api-key", key);
    set_deadline(std::chrono::system_clock::now() + limit);
  }
};

void check(const grpc::Status& status) {
  if (!status.ok()) throw std::runtime_error(std::to_string(status.error_code()) + ": " + status.error_message());
}

size_t append(char* bytes, size_t size, size_t count, void* text) {
  static_cast<std::string*>(text)->append(bytes, size * count);
  return size * count;
}

// The bytes of a file go over HTTP. With a body the request is a PUT, without one a GET.
std::string http(const std::string& url, const std::string* body = nullptr) {
  std::string answer;
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), curl_easy_cleanup);
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &answer);
  if (body != nullptr) {
    curl_easy_setopt(curl.get(), CURLOPT_CUSTOMREQUEST, "PUT");
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, body->c_str());
  }
  if (const CURLcode code = curl_easy_perform(curl.get()); code != CURLE_OK) throw std::runtime_error(curl_easy_strerror(code));
  return answer;
}

tv2::ContentPart text(const std::string& content) {
  tv2::ContentPart part;
  part.set_type(tv2::CONTENT_PART_TYPE_TEXT);
  part.set_text(content);
  return part;
}

// Prints the code and, if the error lists the mistakes of the request, each of them with its field.
void printRefusal(const grpc::Status& status) {
  std::cout << "refused with code " << status.error_code() << ": " << status.error_message() << "\n";
  google::rpc::Status error;
  error.ParseFromString(status.error_details());
  for (const auto& detail : error.details()) {
    google::rpc::BadRequest request;
    if (!detail.UnpackTo(&request)) continue;
    for (const auto& violation : request.field_violations())
      std::cout << "detail: " << violation.field() << " " << violation.description() << "\n";
  }
}

void printMessage(const tv2::AssistantMessage& message, const std::string& live) {
  if (!live.empty() && message.content().find(live) != std::string::npos) std::cout << "live text: a part of the next message\n";
  if (!message.has_question_expectation()) {
    std::cout << "message: " << message.content() << "\n";
    return;
  }
  std::cout << "question: " << message.content();
  std::string separator = " ";
  for (const auto& option : message.question_expectation().options()) {
    std::cout << separator << option;
    separator = ", ";
  }
  std::cout << "\n";
}

// The services with the key of an account.
class Account {
 public:
  Account(const std::shared_ptr<grpc::Channel>& channel, std::string key)
      : files_(fv2::FileService::NewStub(channel)), tasks_(tv2::TaskService::NewStub(channel)), key_(std::move(key)) {}

  std::string upload() {
    fv2::UploadFileRequest request;
    request.set_filename("plan.txt");
    fv2::UploadFileResponse slot;
    Call call(key_);
    check(files_->UploadFile(&call, request, &slot));
    const std::string content = "Paint the house.";
    http(slot.upload_url(), &content);
    fv2::GetFileRequest known;
    known.set_file_id(slot.file().id());
    fv2::GetFileResponse detail;
    Call second(key_);
    check(files_->GetFile(&second, known, &detail));
    std::cout << "uploaded: " << detail.file().filename() << ", " << detail.file().bytes() << " bytes\n";
    return slot.file().id();
  }

  std::string create(const std::string& file_id) {
    tv2::CreateTaskRequest request;
    *request.mutable_message()->add_content() = text(kDirectives);
    tv2::ContentPart* file = request.mutable_message()->add_content();
    file->set_type(tv2::CONTENT_PART_TYPE_FILE);
    file->set_file_id(file_id);
    tv2::CreateTaskResponse created;
    Call call(key_);
    check(tasks_->CreateTask(&call, request, &created));
    std::cout << "created\n";
    return created.task_id();
  }

  // Answers the question, and cancels the watch where the task waits for an approval. Returns the event of the approval.
  tv2::TaskEvent answer(const std::string& task_id) {
    tv2::WatchTaskRequest request;
    request.set_task_id(task_id);
    request.set_deltas(true);
    Call call(key_);
    const auto watch = tasks_->WatchTask(&call, request);
    tv2::WatchTaskResponse response;
    std::string live;
    while (watch->Read(&response)) {
      // A text can begin again, for example after a crash.
      if (response.has_delta() && response.delta().offset() == 0) live.clear();
      live += response.delta().text();
      const tv2::TaskEvent event = response.event();
      if (event.has_assistant_message()) {
        printMessage(event.assistant_message(), live);
        live.clear();
      }
      const std::string& kind = event.status_update().status_detail().waiting_for_event_type();
      if (kind == "messageAskUser") {
        reply(task_id, "red");
      } else if (!kind.empty()) {
        std::cout << "approval: " << kind << "\n";
        call.TryCancel();
        // The server may have sent more before it noticed.
        while (watch->Read(&response)) continue;
        std::cout << "cancelled with code " << watch->Finish().error_code() << "\n";
        return event;
      }
    }
    check(watch->Finish());
    throw std::runtime_error("the watch ended before the approval was requested");
  }

  void confirm(const std::string& task_id, const std::string& event_id) {
    tv2::ConfirmActionRequest request;
    request.set_task_id(task_id);
    request.set_event_id(event_id);
    (*request.mutable_input()->mutable_fields())["accept"].set_bool_value(true);
    tv2::ConfirmActionResponse response;
    Call call(key_);
    check(tasks_->ConfirmAction(&call, request, &response));
    std::cout << "confirmed: " << std::boolalpha << response.confirmed() << "\n";
  }

  // Continues the watch after the last event; it ends by itself when the task has stopped.
  void finish(const std::string& task_id, int after_seq) {
    tv2::WatchTaskRequest request;
    request.set_task_id(task_id);
    request.set_after_seq(after_seq);
    request.set_until_settled(true);
    Call call(key_);
    const auto watch = tasks_->WatchTask(&call, request);
    tv2::WatchTaskResponse response;
    while (watch->Read(&response)) {
      for (const auto& attachment : response.event().assistant_message().attachments())
        std::cout << "downloaded: " << attachment.filename() << ", " << http(attachment.url()) << "\n";
    }
    check(watch->Finish());
    tv2::GetTaskResponse detail;
    check(task(task_id, &detail));
    std::cout << "ended: " << tv2::TaskStatus_Name(detail.task().status()) << "\n";
  }

  void provokeRefusals(const std::string& task_id) {
    tv2::ListMessagesRequest request;
    request.set_task_id(task_id);
    request.set_limit(201);
    tv2::ListMessagesResponse list;
    Call call(key_);
    printRefusal(tasks_->ListMessages(&call, request, &list));
    tv2::GetTaskResponse detail;
    printRefusal(task("nobody", &detail));
  }

  grpc::Status task(const std::string& task_id, tv2::GetTaskResponse* detail) {
    tv2::GetTaskRequest request;
    request.set_task_id(task_id);
    Call call(key_);
    return tasks_->GetTask(&call, request, detail);
  }

  // A watch of a task that has ended stays open for its next turn.
  void exceedDeadline(const std::string& task_id) {
    tv2::WatchTaskRequest request;
    request.set_task_id(task_id);
    Call call(key_, std::chrono::milliseconds(500));
    const auto watch = tasks_->WatchTask(&call, request);
    tv2::WatchTaskResponse response;
    while (watch->Read(&response)) continue;
    std::cout << "deadline exceeded with code " << watch->Finish().error_code() << "\n";
  }

 private:
  void reply(const std::string& task_id, const std::string& content) {
    tv2::SendMessageRequest request;
    request.set_task_id(task_id);
    *request.mutable_message()->add_content() = text(content);
    tv2::SendMessageResponse response;
    Call call(key_);
    check(tasks_->SendMessage(&call, request, &response));
    std::cout << "answered: " << content << "\n";
  }

  std::unique_ptr<fv2::FileService::Stub> files_;
  std::unique_ptr<tv2::TaskService::Stub> tasks_;
  std::string key_;
};

// An environment variable.
std::string setting(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) throw std::runtime_error(std::string(name) + " is not set");
  return value;
}

int main() {
  const std::string url = setting("ATP_URL");
  // Without TLS, for a server on this machine. For https use grpc::SslCredentials.
  const auto channel = grpc::CreateChannel(url.substr(url.find("://") + 3), grpc::InsecureChannelCredentials());
  Account account(channel, setting("ATP_KEY"));
  const std::string task_id = account.create(account.upload());
  const tv2::TaskEvent approval = account.answer(task_id);
  account.confirm(task_id, approval.status_update().status_detail().waiting_for_event_id());
  account.finish(task_id, approval.seq());
  account.provokeRefusals(task_id);
  tv2::GetTaskResponse detail;
  printRefusal(Account(channel, "sk-nobody").task(task_id, &detail));
  account.exceedDeadline(task_id);
}
