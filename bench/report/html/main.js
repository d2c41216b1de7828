// Start: open the core data, fill tables and lists, follow the address.

async function start() {
  const core = await block("core");
  core.order = core.points.map((_, i) => i).sort((a, b) => (core.points[b].means[core.headline] ?? -1) - (core.points[a].means[core.headline] ?? -1) || a - b);
  const chosen = core.points.findIndex((p) => p.mark.startsWith("chosen"));
  core.first = chosen >= 0 ? chosen : core.order[0];
  core.points.forEach((point, i) => { point.index = i; });
  if (!core.points.length || !core.questions.length) {
    document.getElementById("points-status").textContent = "No complete point: nothing to show.";
    document.documentElement.dataset.ready = "empty";
    return;
  }
  const drill = drillDown(core);
  pointsTable(core, drill.open);
  missesTable(core, drill.open);
  if (!(await drill.follow())) await drill.draw();
  document.documentElement.dataset.ready = "yes";
}

start().catch((error) => {
  document.getElementById("points-status").textContent = "The data of this page cannot be read: " + error.message;
  document.documentElement.dataset.ready = "failed";
  throw error;
});
