const answer = `The **Seabird** is the best offer. It costs 12 % less than the *Albatross*, and the skipper is included.

| Boat | Seats | Price per day | Skipper |
| --- | --- | --- | --- |
| Seabird | 24 | 410 € | included |
| Albatross | 30 | 465 € | 120 € |
| Puffin | 12 | 260 € | included |

What speaks against it:

1. It has no awning; on hot days guests sit in the sun.
2. The pier at the [old harbour](https://harbour.example/pier) is 400 m away.

\`\`\`ts
const perGuest = (price: number, seats: number): number => Math.round(price / seats);
perGuest(410, 24); // 17
\`\`\`

> Ask for the price of the whole season: from 20 days on there is a discount.`;

/** Texts of tasks, written for the offline agent (docs/guides/offline-agent.md). */
export const stories = {
  answer,
  projects: [
    {
      name: "Summer season",
      instruction: "Prices are in euros. Answer in short sentences. Ask before anything is booked.",
    },
    { name: "Bookkeeping", instruction: "Follow the chart of accounts in accounts.csv." },
    { name: "Website relaunch with the new brand, in four languages", instruction: "" },
  ],
  past: [
    "Summarise the reviews of last week",
    "Answer the enquiry of the sailing school",
    "Compare the insurance offers",
    "Write the newsletter for returning guests",
    "Check the invoices of the shipyard against the orders",
    "Translate the safety instructions into Danish",
    "Find a caterer for the midsummer trip",
  ],
  today: [
    { title: "Translate the brochure", content: "[[credits 38]][[say Done.]]" },
    {
      title: "Read the price list of the shipyard",
      content:
        "[[plan Open the list | Compare]][[step]][[tool fetch_url | error]][[fail tool_failed | The server of the shipyard did not answer within 30 s.]]",
    },
    {
      title:
        "Plan the route for the three-day trip to the islands with stops for bathing, for lunch and for the lighthouse, and a second plan for bad weather",
      content:
        "[[plan Read the chart | Choose the stops | Write both plans]][[step]][[credits 64]][[progress I found seven harbours with free berths.]][[step]][[forever]]",
      metadata: { customer: "sailing-school", season: "2026" },
    },
    {
      title: "Collect the prices of all harbours",
      content:
        "[[plan Ask each harbour | Compare]][[step]][[subtask Ask Marstal\n[[credits 4]][[say 38 € a night.]]]][[subtask Ask Svendborg\n[[forever]]]][[subtask Ask Faaborg\n[[credits 6]][[say 31 € a night.]]]][[wait all]]",
    },
    {
      title: "Watch the weather for Saturday",
      content: "[[plan Ask the service | Wait]][[step]][[forever]]",
    },
    {
      title: "Delete the old photos",
      content:
        "[[plan Find old photos | Delete them]][[step]][[think I list the photos that are older than five years.]][[tool list_files]][[progress I found 1,204 photos of before 2021, 3.1 GB.]][[step]][[confirm terminalExecute]][[say Deleted.]]",
    },
    {
      title: "Book the berth in Marstal",
      content:
        "[[ask Which berth should I book? | Berth 14, 38 €, with power | Berth 21, 31 €, without power | None of them]]",
      interactive_mode: true,
    },
  ],
  long: {
    title: "Compare the offers for the summer boats",
    message: {
      content: `[[plan Read the offers | Count the costs | Write the answer]][[step]][[think The offers use different units: per day, per week and per trip.]][[tool read_file]][[tool read_file]][[tool fetch_url | error]][[step]][[progress All three prices are now per day.]][[tool run_code]][[step]][[credits 112]][[file comparison.csv | boat,seats,price\nSeabird,24,410\nAlbatross,30,465\nPuffin,12,260]][[say ${answer}]]`,
    },
  },
};
