// A task from its creation to its end over gRPC: its file, its live text, a question, an approval, refusals and time limits.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	filev2 "agent-task-platform.dev/gen/go/atp/file/v2"
	taskv2 "agent-task-platform.dev/gen/go/atp/task/v2"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// What the offline agent does: docs/guides/offline-agent.md.
const directives = "[[stream One word after the other]] [[ask Colour? | red | blue]] [[confirm terminalExecute]] " +
	"[[file result.txt | The house is red.]]"

type clients struct {
	files filev2.FileServiceClient
	tasks taskv2.TaskServiceClient
}

func main() {
	base, err := url.Parse(os.Getenv("ATP_URL"))
	check(err)
	// Without TLS, for a server on this machine. For https use grpc.WithTransportCredentials(credentials.NewTLS(nil)).
	connection, err := grpc.Dial(base.Host, grpc.WithInsecure())
	check(err)
	defer connection.Close()
	c := clients{filev2.NewFileServiceClient(connection), taskv2.NewTaskServiceClient(connection)}

	ctx, cancel := context.WithTimeout(withKey(os.Getenv("ATP_KEY")), 60*time.Second)
	defer cancel()
	fileID := c.upload(ctx)
	taskID := c.create(ctx, fileID)
	eventID, seq := c.answer(ctx, taskID)
	c.confirm(ctx, taskID, eventID)
	c.finish(ctx, taskID, seq)
	c.provokeRefusals(ctx, taskID)
	c.exceedDeadline(ctx, taskID)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A context whose calls send the key.
func withKey(key string) context.Context {
	return metadata.AppendToOutgoingContext(context.Background(), "x-service-api-key", key)
}

// The bytes of a file go over HTTP, to the address that the call returns.
func (c clients) upload(ctx context.Context) string {
	slot, err := c.files.UploadFile(ctx, &filev2.UploadFileRequest{Filename: "plan.txt"})
	check(err)
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, slot.UploadUrl, strings.NewReader("Paint the house."))
	check(err)
	answer, err := http.DefaultClient.Do(request)
	check(err)
	answer.Body.Close()
	detail, err := c.files.GetFile(ctx, &filev2.GetFileRequest{FileId: slot.File.Id})
	check(err)
	fmt.Printf("uploaded: %s, %d bytes\n", detail.File.Filename, detail.File.GetBytes())
	return slot.File.Id
}

func text(content string) *taskv2.ContentPart {
	return &taskv2.ContentPart{Type: taskv2.ContentPartType_CONTENT_PART_TYPE_TEXT, Text: proto.String(content)}
}

func (c clients) create(ctx context.Context, fileID string) string {
	file := &taskv2.ContentPart{Type: taskv2.ContentPartType_CONTENT_PART_TYPE_FILE, FileId: proto.String(fileID)}
	message := &taskv2.Message{Content: []*taskv2.ContentPart{text(directives), file}}
	created, err := c.tasks.CreateTask(ctx, &taskv2.CreateTaskRequest{Message: message})
	check(err)
	fmt.Println("created")
	return created.TaskId
}

// Answers the question, and cancels the watch where the task waits for an approval. Returns the approval's event and its number.
func (c clients) answer(ctx context.Context, taskID string) (eventID string, seq int32) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch, err := c.tasks.WatchTask(ctx, &taskv2.WatchTaskRequest{TaskId: taskID, Deltas: true})
	check(err)
	live := ""
	for {
		response, err := watch.Recv()
		if eventID != "" {
			// The server may have sent more before it noticed.
			if err != nil {
				fmt.Println("cancelled with code", int(status.Code(err)))
				return eventID, seq
			}
			continue
		}
		check(err)
		if delta := response.Delta; delta != nil {
			// A text can begin again, for example after a crash.
			if delta.Offset == 0 {
				live = ""
			}
			live += delta.Text
		}
		if message := response.Event.GetAssistantMessage(); message != nil {
			printMessage(message, live)
			live = ""
		}
		detail := response.Event.GetStatusUpdate().GetStatusDetail()
		switch detail.GetWaitingForEventType() {
		case "":
		case "messageAskUser":
			_, err := c.tasks.SendMessage(ctx, &taskv2.SendMessageRequest{
				TaskId:  taskID,
				Message: &taskv2.Message{Content: []*taskv2.ContentPart{text("red")}},
			})
			check(err)
			fmt.Println("answered: red")
		default:
			fmt.Println("approval:", detail.WaitingForEventType)
			eventID, seq = detail.WaitingForEventId, response.Event.Seq
			cancel()
		}
	}
}

func printMessage(message *taskv2.AssistantMessage, live string) {
	if live != "" && strings.Contains(message.Content, live) {
		fmt.Println("live text: a part of the next message")
	}
	if question := message.QuestionExpectation; question != nil {
		fmt.Printf("question: %s %s\n", message.Content, strings.Join(question.Options, ", "))
	} else {
		fmt.Println("message:", message.Content)
	}
}

func (c clients) confirm(ctx context.Context, taskID, eventID string) {
	input, err := structpb.NewStruct(map[string]interface{}{"accept": true})
	check(err)
	answer, err := c.tasks.ConfirmAction(ctx, &taskv2.ConfirmActionRequest{TaskId: taskID, EventId: eventID, Input: input})
	check(err)
	fmt.Println("confirmed:", answer.Confirmed)
}

// Continues the watch after the last event; it ends by itself when the task has stopped.
func (c clients) finish(ctx context.Context, taskID string, afterSeq int32) {
	request := &taskv2.WatchTaskRequest{TaskId: taskID, AfterSeq: proto.Int32(afterSeq), UntilSettled: true}
	watch, err := c.tasks.WatchTask(ctx, request)
	check(err)
	for {
		response, err := watch.Recv()
		if err == io.EOF {
			break
		}
		check(err)
		for _, attachment := range response.Event.GetAssistantMessage().GetAttachments() {
			fmt.Printf("downloaded: %s, %s\n", attachment.Filename, download(ctx, attachment.Url))
		}
	}
	detail, err := c.tasks.GetTask(ctx, &taskv2.GetTaskRequest{TaskId: taskID})
	check(err)
	fmt.Println("ended:", detail.Task.Status)
}

func download(ctx context.Context, address string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	check(err)
	answer, err := http.DefaultClient.Do(request)
	check(err)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	check(err)
	return string(content)
}

func (c clients) provokeRefusals(ctx context.Context, taskID string) {
	_, err := c.tasks.ListMessages(ctx, &taskv2.ListMessagesRequest{TaskId: taskID, Limit: proto.Int32(201)})
	printRefusal(err)
	_, err = c.tasks.GetTask(ctx, &taskv2.GetTaskRequest{TaskId: "nobody"})
	printRefusal(err)
	_, err = c.tasks.GetTask(withKey("sk-nobody"), &taskv2.GetTaskRequest{TaskId: taskID})
	printRefusal(err)
}

// Prints the code and, if the error lists the mistakes of the request, each of them with its field.
func printRefusal(err error) {
	refusal := status.Convert(err)
	fmt.Printf("refused with code %d: %s\n", int(refusal.Code()), refusal.Message())
	for _, detail := range refusal.Details() {
		if request, ok := detail.(*errdetails.BadRequest); ok {
			for _, violation := range request.FieldViolations {
				fmt.Printf("detail: %s %s\n", violation.Field, violation.Description)
			}
		}
	}
}

// A watch of a task that has ended stays open for its next turn.
func (c clients) exceedDeadline(ctx context.Context, taskID string) {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	watch, err := c.tasks.WatchTask(ctx, &taskv2.WatchTaskRequest{TaskId: taskID})
	check(err)
	for err == nil {
		_, err = watch.Recv()
	}
	fmt.Println("deadline exceeded with code", int(status.Code(err)))
}
