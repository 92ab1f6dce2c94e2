import { words } from "../words.ts";

export const text = words(
  {
    title: "Welcome",
    isDone: "Done",
    signedIn: (email: string) =>
      `You are signed in as ${email}. Four steps make this server yours, in any order.`,
    password: "Choose a password",
    passwordText:
      "The link that brought you here does not work again. With a password you can sign in at any time.",
    key: "Make an API key",
    keyText: "Programs call the API with a key. It belongs to you, and you can revoke it in the settings.",
    makeKey: "Make a key",
    keyName: "First steps",
    once: "The key is shown only this once. The server keeps only its digest.",
    copyKey: "Copy the key",
    curl: "These lines create a task, read its messages and stop it. The key is filled in.",
    taskId: "THE_TASK_ID",
    allKeys: "All API keys",
    task: "Create a first task",
    taskText:
      "Without a model the offline agent answers. It calculates, and follows directives that cause every state of a task.",
    taskLabel: "What should the agent do?",
    taskExample: "What is 12 * 4?",
    start: "Start the task",
    model: "Let a model think",
    modelText: "Paste the key of a provider, or use a model on this machine. Nothing needs a restart.",
    modelMore: "Limits, tools and more servers",
    tasks: "Go to the tasks",
  },
  {
    title: "Willkommen",
    isDone: "Erledigt",
    signedIn: (email: string) =>
      `Sie sind als ${email} angemeldet. Vier Schritte richten diesen Server ein, in beliebiger Reihenfolge.`,
    password: "Passwort wählen",
    passwordText:
      "Der Link, mit dem Sie kamen, gilt nur einmal. Mit einem Passwort melden Sie sich jederzeit wieder an.",
    key: "API-Schlüssel erstellen",
    keyText:
      "Programme rufen die API mit einem Schlüssel auf. Er gehört Ihnen; in den Einstellungen können Sie ihn widerrufen.",
    makeKey: "Schlüssel erstellen",
    keyName: "Erste Schritte",
    once: "Der Schlüssel wird nur dieses eine Mal gezeigt. Der Server behält nur die Prüfsumme.",
    copyKey: "Schlüssel kopieren",
    curl: "Diese Zeilen erstellen eine Aufgabe, lesen ihre Nachrichten und halten sie an. Der Schlüssel ist eingesetzt.",
    taskId: "DIE_ID_DER_AUFGABE",
    allKeys: "Alle API-Schlüssel",
    task: "Erste Aufgabe erstellen",
    taskText:
      "Ohne Modell antwortet der Offline-Agent. Er rechnet und befolgt Anweisungen, die jeden Zustand einer Aufgabe herbeiführen.",
    taskLabel: "Was soll der Agent tun?",
    taskExample: "Wie viel ist 12 * 4?",
    start: "Aufgabe starten",
    model: "Ein Modell denken lassen",
    modelText:
      "Fügen Sie den Schlüssel eines Anbieters ein, oder nehmen Sie ein Modell auf diesem Rechner. Nichts braucht einen Neustart.",
    modelMore: "Grenzen, Werkzeuge und weitere Server",
    tasks: "Zu den Aufgaben",
  },
);
