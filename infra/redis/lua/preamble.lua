-- Put in front of every script by `infra.redis.scripts.Script`.

-- the time in ms as text: `given`, or that of the server where it is ''
local function time_ms(given)
  if given ~= '' then
    return given
  end
  local time = redis.call('TIME')
  return time[1] .. string.format('%03d', math.floor(tonumber(time[2]) / 1000))
end

-- the index that the next leaf of a log that exists will have: ids are `<index>-1` and are never used twice
local function index_after(log)
  local info = redis.call('XINFO', 'STREAM', log)
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then
      return tonumber(string.match(info[i + 1], '^(%d+)')) + 1
    end
  end
end

-- the same of any log: one that nothing was ever added to is no key
local function next_index(log)
  return redis.call('EXISTS', log) == 0 and 0 or index_after(log)
end

-- when an inbox entry was received, in ms; `found` is the reply to XRANGE or XREVRANGE with COUNT 1
local function received_ms(found)
  local fields = found[1][2]
  for i = 1, #fields, 2 do
    if fields[i] == 't' then
      return tonumber(fields[i + 1])
    end
  end
end

-- the floor of a shard's clock in ms, before which nothing is received; 0 for none, and for one that
-- is more than `most` ms ahead of the time `now`, because the clock was wrong then
local function floor_ms(key, now, most)
  local floor = tonumber(redis.call('GET', key) or '0')
  return floor <= now + most and floor or 0
end
