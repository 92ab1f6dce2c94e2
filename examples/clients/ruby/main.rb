# A task from its creation to its end over gRPC: its file, its live text, a question, an approval, refusals and time limits.
require "net/http"
require "google/protobuf/well_known_types"
require "google/rpc/error_details_pb"
require "atp/file/v2/file_service_services_pb"
require "atp/task/v2/task_service_services_pb"

Files = AgentTaskPlatform::File::V2
Tasks = AgentTaskPlatform::Task::V2

# What the offline agent does: docs/guides/offline-agent.md.
DIRECTIVES = "[[stream One word after the other]] [[ask Colour? | red | blue]] [[confirm terminalExecute]] " \
             "[[file result.txt | The house is red.]]".freeze

# The services with the key of an account.
class Account
  def initialize(address, key)
    # Without TLS, for a server on this machine. For https use GRPC::Core::ChannelCredentials.new.
    @files = Files::FileService::Stub.new(address, :this_channel_is_insecure, timeout: 60)
    @tasks = Tasks::TaskService::Stub.new(address, :this_channel_is_insecure, timeout: 60)
    @options = { metadata: { "x-service-api-key" => key } }
  end

  # The bytes of a file go over HTTP, to the address that the call returns.
  def upload
    slot = @files.upload_file(Files::UploadFileRequest.new(filename: "plan.txt"), **@options)
    address = URI(slot.upload_url)
    Net::HTTP.start(address.host, address.port, use_ssl: address.scheme == "https") do |http|
      http.put(address.request_uri, "Paint the house.")
    end
    file = @files.get_file(Files::GetFileRequest.new(file_id: slot.file.id), **@options).file
    puts "uploaded: #{file.filename}, #{file.bytes} bytes"
    file.id
  end

  def create(file_id)
    file = Tasks::ContentPart.new(type: :CONTENT_PART_TYPE_FILE, file_id: file_id)
    message = Tasks::Message.new(content: [text(DIRECTIVES), file])
    created = @tasks.create_task(Tasks::CreateTaskRequest.new(message: message), **@options)
    puts "created"
    created.task_id
  end

  # Answers the question, and cancels the watch where the task waits for an approval. Returns the approval's event and its number.
  def answer(task_id)
    request = Tasks::WatchTaskRequest.new(task_id: task_id, deltas: true)
    watch = @tasks.watch_task(request, return_op: true, **@options)
    live = +""
    approval = nil
    watch.execute.each do |response|
      # The server may have sent more before it noticed the end.
      next if approval

      if response.delta
        # A text can begin again, for example after a crash.
        live = +"" if response.delta.offset.zero?
        live << response.delta.text
      end
      if (message = response.event&.assistant_message)
        print_message(message, live)
        live = +""
      end
      detail = response.event&.status_update&.status_detail
      next unless detail

      if detail.waiting_for_event_type == "messageAskUser"
        reply = Tasks::Message.new(content: [text("red")])
        @tasks.send_message(Tasks::SendMessageRequest.new(task_id: task_id, message: reply), **@options)
        puts "answered: red"
      else
        puts "approval: #{detail.waiting_for_event_type}"
        approval = [detail.waiting_for_event_id, response.event.seq]
        watch.cancel
      end
    end
  rescue GRPC::Cancelled => e
    puts "cancelled with code #{e.code}"
    approval
  end

  def confirm(task_id, event_id)
    input = Google::Protobuf::Struct.new(fields: { "accept" => Google::Protobuf::Value.new(bool_value: true) })
    request = Tasks::ConfirmActionRequest.new(task_id: task_id, event_id: event_id, input: input)
    puts "confirmed: #{@tasks.confirm_action(request, **@options).confirmed}"
  end

  # Continues the watch after the last event; it ends by itself when the task has stopped.
  def finish(task_id, after_seq)
    request = Tasks::WatchTaskRequest.new(task_id: task_id, after_seq: after_seq, until_settled: true)
    @tasks.watch_task(request, **@options).each do |response|
      (response.event&.assistant_message&.attachments || []).each do |attachment|
        puts "downloaded: #{attachment.filename}, #{Net::HTTP.get(URI(attachment.url))}"
      end
    end
    puts "ended: #{task(task_id).status}"
  end

  def provoke_refusals(task_id)
    print_refusal { @tasks.list_messages(Tasks::ListMessagesRequest.new(task_id: task_id, limit: 201), **@options) }
    print_refusal { task("nobody") }
  end

  def task(task_id)
    @tasks.get_task(Tasks::GetTaskRequest.new(task_id: task_id), **@options).task
  end

  # A watch of a task that has ended stays open for its next turn.
  def exceed_deadline(task_id)
    request = Tasks::WatchTaskRequest.new(task_id: task_id)
    @tasks.watch_task(request, deadline: Time.now + 0.5, **@options).each { |_| }
  rescue GRPC::DeadlineExceeded => e
    puts "deadline exceeded with code #{e.code}"
  end

  private

  def text(content)
    Tasks::ContentPart.new(type: :CONTENT_PART_TYPE_TEXT, text: content)
  end

  def print_message(message, live)
    puts "live text: a part of the next message" if !live.empty? && message.content.include?(live)
    if (question = message.question_expectation)
      puts "question: #{message.content} #{question.options.join(", ")}"
    else
      puts "message: #{message.content}"
    end
  end
end

# Prints the code and, if the error lists the mistakes of the request, each of them with its field.
def print_refusal
  yield
  raise "the call was not refused"
rescue GRPC::BadStatus => e
  puts "refused with code #{e.code}: #{e.details}"
  (e.to_rpc_status&.details || []).each do |detail|
    next unless detail.is(Google::Rpc::BadRequest)

    request = detail.unpack(Google::Rpc::BadRequest)
    request.field_violations.each { |violation| puts "detail: #{violation.field} #{violation.description}" }
  end
end

base = URI(ENV.fetch("ATP_URL"))
address = "#{base.host}:#{base.port}"
account = Account.new(address, ENV.fetch("ATP_KEY"))
task_id = account.create(account.upload)
event_id, seq = account.answer(task_id)
account.confirm(task_id, event_id)
account.finish(task_id, seq)
account.provoke_refusals(task_id)
print_refusal { Account.new(address, "sk-nobody").task(task_id) }
account.exceed_deadline(task_id)
