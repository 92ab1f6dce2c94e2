// A task from its creation to its end over gRPC: its file, its live text, a question, an approval, refusals and time limits.

import com.google.protobuf.Any;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import com.google.rpc.BadRequest;
import dev.agenttaskplatform.file.v2.FileDetail;
import dev.agenttaskplatform.file.v2.FileServiceGrpc;
import dev.agenttaskplatform.file.v2.GetFileRequest;
import dev.agenttaskplatform.file.v2.UploadFileRequest;
import dev.agenttaskplatform.file.v2.UploadFileResponse;
import dev.agenttaskplatform.task.v2.AssistantMessage;
import dev.agenttaskplatform.task.v2.ConfirmActionRequest;
import dev.agenttaskplatform.task.v2.ContentPart;
import dev.agenttaskplatform.task.v2.ContentPartType;
import dev.agenttaskplatform.task.v2.CreateTaskRequest;
import dev.agenttaskplatform.task.v2.GetTaskRequest;
import dev.agenttaskplatform.task.v2.ListMessagesRequest;
import dev.agenttaskplatform.task.v2.Message;
import dev.agenttaskplatform.task.v2.SendMessageRequest;
import dev.agenttaskplatform.task.v2.StatusDetail;
import dev.agenttaskplatform.task.v2.Task;
import dev.agenttaskplatform.task.v2.TaskAttachment;
import dev.agenttaskplatform.task.v2.TaskEvent;
import dev.agenttaskplatform.task.v2.TaskServiceGrpc;
import dev.agenttaskplatform.task.v2.WatchTaskRequest;
import dev.agenttaskplatform.task.v2.WatchTaskResponse;
import io.grpc.Channel;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;

public final class Main {
  // What the offline agent does: docs/guides/offline-agent.md.
  private static final String DIRECTIVES =
      "[[stream One word after the other]] [[ask Colour? | red | blue]] [[confirm terminalExecute]] "
          + "[[file result.txt | The house is red.]]";

  private final HttpClient http = HttpClient.newHttpClient();
  private final FileServiceGrpc.FileServiceBlockingStub files;
  private final TaskServiceGrpc.TaskServiceBlockingStub tasks;

  private Main(Channel channel, String key) {
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of("x-service-api-key", Metadata.ASCII_STRING_MARSHALLER), key);
    var credential = MetadataUtils.newAttachHeadersInterceptor(headers);
    files = FileServiceGrpc.newBlockingStub(channel).withInterceptors(credential);
    tasks = TaskServiceGrpc.newBlockingStub(channel).withInterceptors(credential);
  }

  public static void main(String[] arguments) throws Exception {
    URI base = URI.create(System.getenv("ATP_URL"));
    // Without TLS, for a server on this machine. For https leave out usePlaintext.
    ManagedChannel channel = ManagedChannelBuilder.forAddress(base.getHost(), base.getPort()).usePlaintext().build();
    try {
      Main account = new Main(channel, System.getenv("ATP_KEY"));
      String taskId = account.create(account.upload());
      TaskEvent approval = account.answer(taskId);
      account.confirm(taskId, approval.getStatusUpdate().getStatusDetail().getWaitingForEventId());
      account.finish(taskId, approval.getSeq());
      account.provokeRefusals(taskId);
      printRefusal(() -> new Main(channel, "sk-nobody").task(taskId));
      account.exceedDeadline(taskId);
    } finally {
      channel.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
    }
  }

  /** The stub for one call, which may take a minute. */
  private TaskServiceGrpc.TaskServiceBlockingStub call() {
    return tasks.withDeadlineAfter(60, TimeUnit.SECONDS);
  }

  /** The bytes of a file go over HTTP, to the address that the call returns. */
  private String upload() throws Exception {
    UploadFileResponse slot = files.uploadFile(UploadFileRequest.newBuilder().setFilename("plan.txt").build());
    HttpRequest put =
        HttpRequest.newBuilder(URI.create(slot.getUploadUrl())).PUT(HttpRequest.BodyPublishers.ofString("Paint the house.")).build();
    http.send(put, HttpResponse.BodyHandlers.discarding());
    FileDetail file = files.getFile(GetFileRequest.newBuilder().setFileId(slot.getFile().getId()).build()).getFile();
    System.out.printf("uploaded: %s, %d bytes%n", file.getFilename(), file.getBytes());
    return file.getId();
  }

  private static ContentPart text(String content) {
    return ContentPart.newBuilder().setType(ContentPartType.CONTENT_PART_TYPE_TEXT).setText(content).build();
  }

  private String create(String fileId) {
    ContentPart file = ContentPart.newBuilder().setType(ContentPartType.CONTENT_PART_TYPE_FILE).setFileId(fileId).build();
    Message message = Message.newBuilder().addContent(text(DIRECTIVES)).addContent(file).build();
    String taskId = call().createTask(CreateTaskRequest.newBuilder().setMessage(message).build()).getTaskId();
    System.out.println("created");
    return taskId;
  }

  /** Answers the question, and cancels the watch where the task waits for an approval. Returns the event of the approval. */
  private TaskEvent answer(String taskId) {
    try (Context.CancellableContext context = Context.current().withCancellation()) {
      return context.wrap(() -> answer(taskId, context)).call();
    } catch (Exception thrown) {
      throw new IllegalStateException(thrown);
    }
  }

  private TaskEvent answer(String taskId, Context.CancellableContext context) {
    Iterator<WatchTaskResponse> watch = call().watchTask(WatchTaskRequest.newBuilder().setTaskId(taskId).setDeltas(true).build());
    String live = "";
    while (true) {
      WatchTaskResponse response = watch.next();
      // A text can begin again, for example after a crash.
      if (response.hasDelta() && response.getDelta().getOffset() == 0) live = "";
      live += response.getDelta().getText();
      TaskEvent event = response.getEvent();
      if (event.hasAssistantMessage()) {
        printMessage(event.getAssistantMessage(), live);
        live = "";
      }
      StatusDetail detail = event.getStatusUpdate().getStatusDetail();
      if (detail.getWaitingForEventType().equals("messageAskUser")) {
        Message reply = Message.newBuilder().addContent(text("red")).build();
        // A call outside of the context that ends the watch.
        Context.ROOT.run(() -> call().sendMessage(SendMessageRequest.newBuilder().setTaskId(taskId).setMessage(reply).build()));
        System.out.println("answered: red");
      } else if (!detail.getWaitingForEventType().isEmpty()) {
        System.out.println("approval: " + detail.getWaitingForEventType());
        context.cancel(null);
        System.out.println("cancelled with code " + endOf(watch));
        return event;
      }
    }
  }

  /** The code of the error that ends a stream. */
  private static int endOf(Iterator<?> stream) {
    try {
      while (true) stream.next();
    } catch (StatusRuntimeException ended) {
      return ended.getStatus().getCode().value();
    }
  }

  private static void printMessage(AssistantMessage message, String live) {
    if (!live.isEmpty() && message.getContent().contains(live)) System.out.println("live text: a part of the next message");
    if (message.hasQuestionExpectation()) {
      String options = String.join(", ", message.getQuestionExpectation().getOptionsList());
      System.out.println("question: " + message.getContent() + " " + options);
    } else {
      System.out.println("message: " + message.getContent());
    }
  }

  private void confirm(String taskId, String eventId) {
    Struct input = Struct.newBuilder().putFields("accept", Value.newBuilder().setBoolValue(true).build()).build();
    ConfirmActionRequest request = ConfirmActionRequest.newBuilder().setTaskId(taskId).setEventId(eventId).setInput(input).build();
    System.out.println("confirmed: " + call().confirmAction(request).getConfirmed());
  }

  /** Continues the watch after the last event; it ends by itself when the task has stopped. */
  private void finish(String taskId, int afterSeq) throws Exception {
    WatchTaskRequest request = WatchTaskRequest.newBuilder().setTaskId(taskId).setAfterSeq(afterSeq).setUntilSettled(true).build();
    Iterator<WatchTaskResponse> watch = call().watchTask(request);
    while (watch.hasNext()) {
      for (TaskAttachment attachment : watch.next().getEvent().getAssistantMessage().getAttachmentsList()) {
        HttpRequest get = HttpRequest.newBuilder(URI.create(attachment.getUrl())).build();
        String content = http.send(get, HttpResponse.BodyHandlers.ofString()).body();
        System.out.println("downloaded: " + attachment.getFilename() + ", " + content);
      }
    }
    System.out.println("ended: " + task(taskId).getStatus());
  }

  private Task task(String taskId) {
    return call().getTask(GetTaskRequest.newBuilder().setTaskId(taskId).build()).getTask();
  }

  private void provokeRefusals(String taskId) throws Exception {
    printRefusal(() -> call().listMessages(ListMessagesRequest.newBuilder().setTaskId(taskId).setLimit(201).build()));
    printRefusal(() -> task("nobody"));
  }

  /** Prints the code and, if the error lists the mistakes of the request, each of them with its field. */
  private static void printRefusal(Runnable work) throws Exception {
    try {
      work.run();
      throw new IllegalStateException("the call was not refused");
    } catch (StatusRuntimeException refusal) {
      System.out.printf("refused with code %d: %s%n", refusal.getStatus().getCode().value(), refusal.getStatus().getDescription());
      com.google.rpc.Status status = StatusProto.fromThrowable(refusal);
      if (status == null) return;
      for (Any detail : status.getDetailsList()) {
        if (!detail.is(BadRequest.class)) continue;
        for (BadRequest.FieldViolation violation : detail.unpack(BadRequest.class).getFieldViolationsList())
          System.out.println("detail: " + violation.getField() + " " + violation.getDescription());
      }
    }
  }

  /** A watch of a task that has ended stays open for its next turn. */
  private void exceedDeadline(String taskId) {
    WatchTaskRequest request = WatchTaskRequest.newBuilder().setTaskId(taskId).build();
    int code = endOf(tasks.withDeadlineAfter(500, TimeUnit.MILLISECONDS).watchTask(request));
    System.out.println("deadline exceeded with code " + code);
  }
}
