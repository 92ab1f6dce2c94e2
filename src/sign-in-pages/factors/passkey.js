// Passkeys need a script: it asks the server for a challenge, the browser for a passkey, and sends the form with the answer.

/** Errors of the browser that mean: the person or the device said no. */
const refusals = new Set(["NotAllowedError", "AbortError"]);

async function answer(form, error) {
  const sent = await fetch(form.dataset.options, {
    method: "POST",
    body: new URLSearchParams(new FormData(form)),
  });
  if (!sent.ok) throw new Error(form.dataset.stale);
  const publicKey = await sent.json();
  error.hidden = true;
  if (form.dataset.passkey === "create")
    return navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey),
    });
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });
}

function show(error, text) {
  error.textContent = text;
  error.hidden = false;
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const error = form.querySelector("[role=alert]");
  const button = form.querySelector("button");
  if (typeof window.PublicKeyCredential?.parseRequestOptionsFromJSON !== "function") continue;
  for (const hidden of document.querySelectorAll("[data-with-passkeys]")) hidden.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      form.elements.credential.value = JSON.stringify((await answer(form, error)).toJSON());
      form.submit();
    } catch (thrown) {
      button.disabled = false;
      if (thrown.name === "InvalidStateError") show(error, form.dataset.known);
      else show(error, refusals.has(thrown.name) ? form.dataset.refused : thrown.message);
    }
  });
}
