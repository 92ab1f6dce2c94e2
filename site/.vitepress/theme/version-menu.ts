import { useData } from "vitepress";
import { defineComponent, h, onMounted, ref } from "vue";

/** A menu of all versions of the site: `versions.json`, next to the folders of the versions, lists them. */
export const VersionMenu = defineComponent(() => {
  const { site, theme } = useData();
  const versions = ref<readonly string[]>([theme.value.version]);
  onMounted(async () => {
    const reply = await fetch(`${site.value.base}../versions.json`);
    if (reply.ok) versions.value = await reply.json();
  });
  const choose = ({ target }: Event) => {
    if (target instanceof HTMLSelectElement)
      location.href = new URL(`../${target.value}/`, new URL(site.value.base, location.href)).href;
  };
  return () =>
    h(
      "select",
      { class: "version-menu", "aria-label": "Version", value: theme.value.version, onChange: choose },
      versions.value.map((version) => h("option", { key: version, value: version }, version)),
    );
});
