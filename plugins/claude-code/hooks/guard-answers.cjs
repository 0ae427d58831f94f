// b60ce55f8ec3f48998a53182b42424be
"use strict";var guard_rules=require("./guard-rules.cjs");var l=guard_rules,i=guard_rules,e=guard_rules,p=guard_rules;var $=guard_rules,m=guard_rules;function d(t,n,r=!1){return n.length===0?t.stdin??"":n.map(s=>s==="-"||s==="/dev/stdin"?t.stdin??"":(t.file("read",s,{recursive:r}),/^\/dev\/(zero|u?random)$/.test(s)?m.ENDLESS:t.content(s))).join("")}var h=({words:t})=>{let n=t.filter(r=>!r.startsWith("-"));return n.length===0?e.PRIVATE:n.map(c).join(`
`)};function c(t){return(0,l.isSecretName)(t)?(0,e.secretOf)(t):e.UNKNOWN}var w=({words:t})=>{let n=(0,i.readArgs)(t,{letters:"fs",long:["format","separator"]});return n.rest.some(r=>/^inf|^\d{10,}$/i.test(r))?e.ENDLESS:`${(n.value("f","format")??"1").replace(/%[\d.]*[aefg]/gi,"1")}
`},y=t=>{let n=(0,i.readArgs)(t.words,{letters:"p",long:["tmpdir","suffix"]}),[r]=n.rest;return`${(r?.includes("/")?r:`${n.value("p","tmpdir")??"/tmp"}/${r??"tmp.XXXX"}`).replace(/X{3,}/,"made-by-mktemp")}
`},v=()=>`./${e.UNKNOWN}
`,x=t=>{let n=(0,i.readArgs)(t.words,{letters:"IwT"}),{context:r}=t.shell.world;if(n.has("d","directory"))return`${n.rest.join(`
`)}
`;let s=n.rest.filter(o=>(0,e.hasGlob)(o)||(0,p.isSecretFile)(t.path(o),r,!1));return s.length>0?`${s.join(`
`)}
./${e.UNKNOWN}
`:n.rest.some(o=>o!==".")?`./${e.UNKNOWN}
`:n.has("a","A","all","almost-all")?`./${e.STAR}
./.${e.STAR}
`:`./${e.STAR}
`},H={letters:"dfr",long:["date","file","reference"]},f=t=>{let n=(0,i.readArgs)(t.words,{letters:"L",long:["arg","argjson","slurpfile","rawfile","indent","from-file"]}),[r="",...s]=n.rest,o=d(t,s);if(/^\s*"(?:[^"\\]|\\["\\/])*"\s*$/.test(r))return`${JSON.parse(r)}
`;let[g,a]=/(?:^|[|(,\s])(?:env|\$ENV)\b(?:\.(\w+))?/.exec(r)??[];return g?a?c(a):e.PRIVATE:(0,e.isPlain)(o)&&/^(\.\w+|\.?\[\d+\])+$/.test(r)?N(o,r):o.replaceAll(e.UNKNOWN,"")===""?e.UNKNOWN:o};function N(t,n){try{let r=JSON.parse(t);for(let s of n.match(/\w+/g)??[])r=Object(r)[s];return`${typeof r=="string"?r:JSON.stringify(r)}
`}catch{return e.UNKNOWN}}var u={ls:x,jq:f,yq:f,expr:({words:t})=>t.length===1?`${t[0]}
`:e.UNKNOWN,printenv:h,yes:({words:t})=>`${t.length===0?"y":t.join(" ")}
${e.ENDLESS}`,mktemp:y,tree:v,pwd:({shell:t})=>`${t.cwd}
`,dirname:({words:t})=>`${(t.at(-1)??"").replace(/\/+[^/]*\/*$/,"")||(t.at(-1)?.startsWith("/")?"/":".")}
`,basename:({words:t})=>`${(t[0]??"").replace(/\/+$/,"").split("/").at(-1)}
`,realpath:t=>`${t.path((0,i.readArgs)(t.words).rest[0]??".")}
`,readlink:t=>`${t.path((0,i.readArgs)(t.words).rest[0]??".")}
`,type:()=>e.UNKNOWN,seq:w,whoami:({shell:t})=>`${t.world.context.home.split("/").at(-1)}
`,date:t=>{t.words.some(r=>r.startsWith("-"))&&(0,i.readArgs)(t.words,H).has("s","set")&&t.act("deny","system-config","sets the clock of the machine","Leave it to a person.");let n=t.words.find(r=>r.startsWith("+"))?.slice(1);return n===void 0?e.UNKNOWN:`${n.replace(/%[-_0^#]?\w/g,"1")}
`},test:()=>"","[":()=>"",true:()=>"",false:()=>"",":":()=>"",sleep:()=>"",stat:()=>e.UNKNOWN,file:()=>e.UNKNOWN,du:()=>e.UNKNOWN};module.exports={answers:u};
