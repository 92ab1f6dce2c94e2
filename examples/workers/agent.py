"""The agent itself: put your own in its place. This one obeys the first word of what was said, as `./atp worker-check` asks it to."""
import io, zipfile


def work(turn, run):
    """One turn, and how it ends: finish, ask, confirm or fail, as worker.v1 has them."""
    use_skills(turn, run)
    said = "\n".join(message["content"] for message in turn["messages"])
    if "memo" in turn:  # this is the answer to a question
        return finish(f"you said {said}")
    word, _, rest = said.partition(" ")
    first, _, second = rest.partition(" ")
    if word == "ask":
        return {"ask": {"content": rest, "memo": "asked"}}
    if word == "confirm":
        if "decisions" not in turn:
            return {"confirm": {"kind": first, "params": {"text": second}}}
        # The same turn has come back with the decision.
        return finish(f"{'accepted' if turn['decisions'][0].get('accepted') else 'refused'} {second}")
    if word == "file":
        return finish(f"here is {first}", [run.upload(first, second.encode())])
    if word == "site":
        save_site(turn, run, first, second)
        return finish(f"saved {first}")
    if word == "fail":
        return {"fail": {"errorType": "internal", "content": rest}}
    if word == "sleep":
        run.pause(float(rest))
        return finish(f"slept {rest}")
    if word in ("work", "slow"):
        steps(turn, run, int(rest), 1 if word == "slow" else 0)
        return finish(f"did {rest} steps")
    return finish(rest if word == "echo" else said)


def use_skills(turn, run):
    """Reads the skills that the user has said must be used, and shows it; the others are there for whoever needs them."""
    written = {each["event"].get("key") for each in turn.get("events", [])}
    for skill in turn.get("skills", []):
        key = f"skill-{skill['id']}"
        if skill.get("forced") and key not in written:
            told = {"skill": skill["name"], "text": run.skill(skill["url"]).read("SKILL.md").decode()}  # for your model
            used = {"tool": "use_skill", "status": "success", "brief": f"Using the skill {skill['name']}"}
            run.append({"key": key, "toolUsed": {**used, "params": {"skill": skill["id"]}, "result": told}})


def finish(content, upload_ids=()):
    return {"finish": {"content": content, "uploadIds": upload_ids}}


def written_in(turn):
    """The keys of what the turn has already."""
    return {each["event"].get("key") for each in turn.get("events", [])}


def save_site(turn, run, title, html):
    """A website of one page, as a ZIP; its user publishes it."""
    if "site" in written_in(turn):
        return
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr("index.html", html)
    site = {"title": title, "message": f"Saved {title}", "uploadId": run.upload("site.zip", archive.getvalue())}
    run.append({"key": "site", "toolUsed": {"tool": "save_site", "status": "success", "brief": f"Saved {title}", "site": site}})


def steps(turn, run, count, seconds):
    """A plan, a tool and progress. Keys follow from the step alone: whoever goes on behind a lost run says nothing twice."""
    written = written_in(turn)
    for step in range(1, count + 1):
        if f"step-{step}" in written:
            continue
        plan = [{"title": f"Step {n}", "status": "done" if n <= step else "todo"} for n in range(1, count + 1)]
        run.append(
            {"key": f"step-{step}.plan", "planUpdate": {"steps": plan}},
            {"key": f"step-{step}.tool", "toolUsed": {"tool": "counter", "status": "success", "brief": f"Counted to {step}"}},
            {"key": f"step-{step}", "assistantMessage": {"content": f"step {step} of {count}"}},
        )
        run.pause(seconds)
