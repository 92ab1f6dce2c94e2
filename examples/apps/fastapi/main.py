"""A web server that asks an agent: POST /ask waits for the answer, GET /ask?q=… streams it.

ATP_URL=http://localhost:8080 ATP_KEY=sk-… uvicorn main:app --port 3000
"""
from agent_task_platform import AsyncClient
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

app = FastAPI()
client = AsyncClient()


class Question(BaseModel):
    question: str


@app.post("/ask")
async def ask(body: Question):
    return {"answer": await client.tasks.create(body.question).text()}


@app.get("/ask")
async def stream(q: str):
    async def parts():
        async for event in client.tasks.create(q).stream(deltas=True):
            if event["type"] == "text_delta":
                yield event["delta"]["text"]

    return StreamingResponse(parts(), media_type="text/plain")
